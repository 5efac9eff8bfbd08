import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { OrderState } from '../../store/types.js'
import { readAmount } from './readAmount.js'

export type Exposure = {
  /** Token units. */
  total: bigint
  count: number
  payers: readonly { payer: string; value: bigint; count: number }[]
}

const open: readonly OrderState[] = [
  'stored',
  'capturing',
  'canceling',
  'voided',
]

/**
 * Sums up how much the signatures that the shop holds can still move, of orders
 * in one token. Counts open and voided payments until their signature expires, and ceilings in full.
 * The payer with the largest sum comes first.
 */
export function sumExposure(
  orders: Iterable<MerchantOrder>,
  now: number,
  decimals: number,
): Exposure {
  const payers = new Map<string, { value: bigint; count: number }>()
  let total = 0n
  let count = 0
  for (const order of orders) {
    const { state, payer, spendableUntil } = order
    const isSpendable = Number(spendableUntil ?? 0) > now
    if (!payer || !open.includes(state) || !isSpendable) continue
    const value = mostOf(order, decimals)
    const sum = payers.get(payer) ?? { value: 0n, count: 0 }
    payers.set(payer, {
      value: sum.value + value,
      count: sum.count + 1,
    })
    total += value
    count += 1
  }
  const rows = [...payers].map(([payer, sum]) => ({ payer, ...sum }))
  rows.sort((a, b) => (a.value < b.value ? 1 : -1))
  return { total, count, payers: rows }
}

/**
 * The most that an order's signature can move, in token units. If no node
 * described the token, the ceiling in whole tokens has no units, and what is to
 * be captured counts.
 */
export function mostOf(
  { value, atMost }: Pick<MerchantOrder, 'value' | 'atMost'>,
  decimals: number,
): bigint {
  const ceiling =
    atMost === undefined ? undefined : readAmount(atMost, decimals)
  return ceiling ?? BigInt(value)
}
