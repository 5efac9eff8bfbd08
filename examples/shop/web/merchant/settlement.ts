import type { Finality } from 'countersign'
import type { WireOrder } from './wire.js'

export const span = {
  minute: { seconds: 60, bars: 30, label: 'Per minute, last half hour' },
  hour: { seconds: 3_600, bars: 24, label: 'Per hour, last day' },
} as const

export type Span = keyof typeof span

/** Weakest first, as they are stacked from below. */
export const settledFinalities = ['finalized', 'safe', 'included'] as const

type SettledFinality = (typeof settledFinalities)[number]

export type SettlementBar = {
  /** Unix seconds at which it begins. */
  from: number
  /** Token units. */
  sums: Record<SettledFinality, bigint>
  total: bigint
  count: number
}

/** What was captured by time and by how sure the chain is of it. */
export function sumSettlement(
  orders: Iterable<WireOrder>,
  { unit, now }: { unit: Span; now: number },
): SettlementBar[] {
  const { seconds, bars } = span[unit]
  const last = Math.floor(now / seconds)
  const rows = Array.from({ length: bars }, (_, at) => ({
    from: (last - bars + 1 + at) * seconds,
    sums: { included: 0n, safe: 0n, finalized: 0n },
    total: 0n,
    count: 0,
  }))
  for (const { capture, value } of orders) {
    if (!capture) continue
    const at = Math.floor(Number(capture.blockTime) / seconds) - last + bars - 1
    const row = rows[Math.min(at, bars - 1)]
    if (at < 0 || !row) continue
    row.sums[finalityOf(capture.finality)] += BigInt(value)
    row.total += BigInt(value)
    row.count += 1
  }
  return rows
}

function finalityOf(finality: Finality): SettledFinality {
  return finality === 'preconfirmed' ? 'included' : finality
}
