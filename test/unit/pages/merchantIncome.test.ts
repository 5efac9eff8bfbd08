import { expect, test } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import {
  daysOf,
  type IncomeLine,
  incomeCsv,
  lastDays,
  sumIncome,
} from '../../../src/pages/merchant/income.js'
import { readJsonLines } from '../../../src/pages/merchant/readJsonLines.js'
import { sampleRow } from '../support/ledgerRow.js'

type Row = ReturnType<typeof sampleRow>

/** The rows as they arrive: a stream that is cut anywhere. */
function streamOf(rows: readonly Row[], size = 7): ReadableStream<Uint8Array> {
  const text = rows.map((row) => `${toJson(row)}\n`).join('')
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
}

function sum(
  rows: readonly Row[],
  { timeZone = 'UTC', newest = '2026-03-29', count = 3 } = {},
): Promise<IncomeLine[]> {
  const days = lastDays(newest, count)
  const wire = readJsonLines<never>(streamOf(rows))
  return sumIncome(wire, { days, dayOf: daysOf(timeZone) })
}

const seconds = (time: string) => BigInt(Date.parse(time) / 1000)
const at = (time: string, changes: Partial<Row> = {}) =>
  sampleRow({ blockTime: seconds(time), ...changes })
const gas = (time: string, fee: bigint, changes: Partial<Row> = {}) =>
  at(time, {
    type: 'gas',
    token: undefined,
    symbol: 'ETH',
    decimals: 18,
    gross: 0n,
    fee,
    net: -fee,
    ...changes,
  })

test('captures and refunds are summed by day and token, gas by day and coin', async () => {
  const euro = { token: `0x${'e'.repeat(40)}`, symbol: 'EURC' } as const
  const lines = await sum([
    at('2026-03-28T00:00:00Z'),
    at('2026-03-28T23:59:59Z', { gross: 1n }),
    at('2026-03-28T12:00:00Z', { type: 'refund', gross: -2_000_001n }),
    at('2026-03-28T12:00:00Z', euro),
    at('2026-03-28T12:00:00Z', { chainId: 1 }),
    gas('2026-03-28T12:00:00Z', 5n),
    gas('2026-03-28T12:00:01Z', 2n ** 60n),
    at('2026-03-29T00:00:00Z', { gross: 2n ** 70n }),
  ])
  const facts = lines.map(
    ({ day, chainId, symbol, captures, captured, refunded, gas: fee }) =>
      [day, chainId, symbol, captures, captured, refunded, fee] as const,
  )
  expect(facts).toEqual([
    ['2026-03-28', 8453, 'USDC', 2, 12_500_001n, 2_000_001n, 0n],
    ['2026-03-28', 8453, 'EURC', 1, 12_500_000n, 0n, 0n],
    ['2026-03-28', 1, 'USDC', 1, 12_500_000n, 0n, 0n],
    ['2026-03-28', 8453, 'ETH', 0, 0n, 0n, 2n ** 60n + 5n],
    ['2026-03-29', 8453, 'USDC', 1, 2n ** 70n, 0n, 0n],
  ])
})

test('other days, transfers, balances and unpaid rows are no income', async () => {
  const types = ['transfer', 'unpaid', 'opening', 'closing'] as const
  expect(
    await sum([
      at('2026-03-26T23:59:59Z'),
      at('2026-03-30T00:00:00Z'),
      ...types.map((type) => at('2026-03-28T12:00:00Z', { type })),
    ]),
  ).toEqual([])
})

test.each([
  ['UTC', '2026-03-28'],
  ['Europe/Berlin', '2026-03-29'],
  ['Asia/Kathmandu', '2026-03-29'],
  ['America/Los_Angeles', '2026-03-28'],
])('in %s, a capture late in the evening is of %s', async (timeZone, day) => {
  const lines = await sum([at('2026-03-28T23:30:00Z')], { timeZone })
  expect(lines.map((line) => line.day)).toEqual([day])
})

test('a day of 23 or 25 hours is one day, and none is listed twice', () => {
  const dayOf = daysOf('Europe/Berlin')
  const hours = (from: string, count: number) =>
    Array.from({ length: count }, (_, hour) =>
      dayOf(Number(seconds(from)) + hour * 3600),
    )
  expect(new Set(hours('2026-03-28T23:00:00Z', 23))).toEqual(
    new Set(['2026-03-29']),
  )
  expect(hours('2026-03-28T23:00:00Z', 24).at(-1)).toBe('2026-03-30')
  expect(new Set(hours('2026-10-24T22:00:00Z', 25))).toEqual(
    new Set(['2026-10-25']),
  )
  expect(lastDays('2026-03-01', 3)).toEqual([
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ])
})

test('the CSV has exact decimals and the time zone, and no formula', async () => {
  const lines = await sum([
    at('2026-03-28T12:00:00Z', { symbol: '=HYPERLINK("x")' }),
    at('2026-03-28T12:00:00Z', {
      type: 'refund',
      symbol: '=HYPERLINK("x")',
      gross: -13_000_000n,
    }),
    gas('2026-03-28T12:00:00Z', 1n),
  ])
  expect(incomeCsv(lines, 'Europe/Berlin').split('\r\n')).toEqual([
    'day,timeZone,chainId,token,symbol,captures,captured,refunded,gas,net',
    `2026-03-28,Europe/Berlin,8453,0x${'1'.repeat(40)},"'=HYPERLINK(""x"")",1,12.5,13,0,-0.5`,
    '2026-03-28,Europe/Berlin,8453,,ETH,0,0,0,0.000000000000000001,-0.000000000000000001',
    '',
  ])
})
