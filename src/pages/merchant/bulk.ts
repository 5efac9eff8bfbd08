import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { BookOrder } from './applyEvent.js'

/** Actions for several orders at once. */
export type BulkAction = 'capture' | 'void'

/** An action that was confirmed for several orders. */
export type Bulk = {
  action: BulkAction
  orderIds: readonly string[]
  /** Orders whose request has no answer yet. */
  unanswered: number
}

/** True if an order can be captured now. */
export function canCapture({ state, requested }: BookOrder): boolean {
  return state === 'stored' && requested !== 'cancel'
}

/** True if an order can be voided now. */
export function canVoid({ state, pending }: BookOrder): boolean {
  return (state === 'stored' && !pending) || state === 'drafted'
}

/** True if an action for several orders can include this order. */
export function isInBulk(action: BulkAction, order: BookOrder): boolean {
  if (action === 'void') return canVoid(order)
  const isAsked = order.pending ?? order.requested
  // The amount of a ceiling is named for each order by itself.
  return canCapture(order) && !isAsked && order.atMost === undefined
}

export type TokenSum = Pick<MerchantOrder, 'chainId' | 'token'> & {
  /** Token units. */
  value: bigint
  count: number
}

/** Sums up orders, separately for each token of each chain. */
export function sumTokens(
  orders: readonly MerchantOrder[],
): readonly TokenSum[] {
  const sums = new Map<string, TokenSum>()
  for (const { chainId, token, value } of orders) {
    const key = `${chainId} ${token}`
    const { value: sum = 0n, count = 0 } = sums.get(key) ?? {}
    sums.set(key, {
      chainId,
      token,
      value: sum + BigInt(value),
      count: count + 1,
    })
  }
  return [...sums.values()]
}

/** Works on each item, on a few of them at the same time. */
export async function workOnEach<item>(
  items: readonly item[],
  atOnce: number,
  work: (item: item) => Promise<void>,
): Promise<void> {
  // All lanes take from the same iterator.
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
