import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { Finality } from '../../core/types.js'

export const span = {
  minute: { seconds: 60, bars: 30, label: 'Per minute, last half hour' },
  hour: { seconds: 3_600, bars: 24, label: 'Per hour, last day' },
} as const

export type Span = keyof typeof span

/** Weakest first, as they are stacked from below. */
export const settledFinalities = ['finalized', 'safe', 'included'] as const

type SettledFinality = (typeof settledFinalities)[number]

export type SettlementBar = {
  /** Start of the period in Unix seconds. */
  from: number
  /** Token units. */
  sums: Record<SettledFinality, bigint>
  total: bigint
  count: number
}

/**
 * Sums up the captured amounts that were not refunded, of orders in one token,
 * by the time of the capture and by finality.
 */
export function sumSettlement(
  orders: Iterable<MerchantOrder>,
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
  for (const { capture, ...order } of orders) {
    const kept = keptOf(order)
    if (!capture || kept === 0n) continue
    const at = Math.floor(Number(capture.blockTime) / seconds) - last + bars - 1
    const row = rows[Math.min(at, bars - 1)]
    if (at < 0 || !row) continue
    row.sums[finalityOf(capture.finality)] += kept
    row.total += kept
    row.count += 1
  }
  return rows
}

/** Returns how much of an order's payment was not refunded, in token units. */
function keptOf({
  value,
  refunded,
  overpaid,
}: Pick<MerchantOrder, 'value' | 'refunded' | 'overpaid'>): bigint {
  const captured = BigInt(value)
  // The buyer of an overpaid order paid twice, and the shop owes one payment.
  const paid = overpaid ? captured * 2n : captured
  const left = paid - BigInt(refunded)
  return left < captured ? left : captured
}

function finalityOf(finality: Finality): SettledFinality {
  return finality === 'preconfirmed' ? 'included' : finality
}
