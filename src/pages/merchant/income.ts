import type { Address } from 'viem'
import { csvLine, guardText } from '../../core/csv.js'
import { formatSigned } from '../../core/formatSigned.js'
import type { Wire } from '../../http/schemas/answerTypes.js'
import type { LedgerRow } from '../../orders/index.js'

/** What came in and went out on one day, of one token or coin. */
export type IncomeLine = {
  /** Such as `2026-11-28`. */
  day: string
  chainId: number
  /** Absent for the coin that pays for gas. */
  token: Address | undefined
  symbol: string
  decimals: number
  captures: number
  /** Sums in base units, not negative. */
  captured: bigint
  refunded: bigint
  gas: bigint
}

/** Gives the day of a time in Unix seconds. */
export type DayOf = (unixSeconds: number) => string

/** Days of a time zone, such as `Europe/Berlin`. */
export function daysOf(timeZone: string): DayOf {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  // In every zone a day begins at a whole quarter of an hour.
  const known = new Map<number, string>()
  return (unixSeconds) => {
    const quarter = Math.floor(unixSeconds / 900)
    const day = known.get(quarter) ?? format.format(quarter * 900_000)
    known.set(quarter, day)
    return day
  }
}

/** Lists days up to this one, the oldest first. */
export function lastDays(newest: string, count: number): string[] {
  const end = Date.parse(newest)
  return Array.from({ length: count }, (_, at) =>
    new Date(end - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10),
  )
}

/**
 * Sums up the captures, claims, refunds and gas of the books, by day and by token or
 * coin. Leaves out other days, and transfers without an order.
 */
export async function sumIncome(
  rows: AsyncIterable<Wire<LedgerRow>>,
  { days, dayOf }: { days: readonly string[]; dayOf: DayOf },
): Promise<IncomeLine[]> {
  const isAsked = new Set(days)
  const lines = new Map<string, IncomeLine>()
  for await (const row of rows) {
    const { type, chainId, token, symbol, decimals } = row
    const day = dayOf(Number(row.blockTime))
    const isCounted = ['capture', 'refund', 'claim', 'gas'].includes(type)
    if (!isCounted || !isAsked.has(day)) continue
    const key = `${day} ${unitKey(row)}`
    const line = lines.get(key) ?? {
      day,
      chainId,
      token,
      symbol,
      decimals,
      captures: 0,
      captured: 0n,
      refunded: 0n,
      gas: 0n,
    }
    lines.set(key, line)
    line.gas += BigInt(row.fee)
    if (type === 'refund') line.refunded -= BigInt(row.gross)
    if (type !== 'capture' && type !== 'claim') continue
    line.captures += 1
    line.captured += BigInt(row.gross)
  }
  return [...lines.values()].sort((one, other) =>
    one.day < other.day ? -1 : one.day > other.day ? 1 : 0,
  )
}

/** Tells tokens and coins apart. */
export function unitKey({
  chainId,
  token = '',
}: {
  chainId: number
  token?: string | undefined
}): string {
  return `${chainId} ${token}`
}

/** What is left, in base units. Negative if more went out. */
export function netOf({ captured, refunded, gas }: IncomeLine): bigint {
  return captured - refunded - gas
}

/**
 * Writes income as CSV for spreadsheets. Amounts are exact decimals in whole
 * tokens or coins.
 */
export function incomeCsv(
  lines: readonly IncomeLine[],
  timeZone: string,
): string {
  const columns: Record<string, (line: IncomeLine) => string | number> = {
    day: ({ day }) => day,
    timeZone: () => timeZone,
    chainId: ({ chainId }) => chainId,
    token: ({ token = '' }) => token,
    symbol: ({ symbol }) => guardText(symbol),
    captures: ({ captures }) => captures,
    captured: (line) => formatSigned(line.captured, line),
    refunded: (line) => formatSigned(line.refunded, line),
    gas: (line) => formatSigned(line.gas, line),
    net: (line) => formatSigned(netOf(line), line),
  }
  const rows = lines.map((line) =>
    csvLine(Object.values(columns).map((show) => String(show(line)))),
  )
  return csvLine(Object.keys(columns)) + rows.join('')
}
