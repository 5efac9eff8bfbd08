import type { Hash } from 'viem'
import type { Finality } from '../../core/types.js'
import type { Order } from '../../orders/model/types.js'

/** What a buyer is shown of an order, and nothing else. */
export type BuyerOrder = Pick<
  Order,
  'amount' | 'token' | 'recipient' | 'state'
> & {
  /** Unix seconds, both exclusive. */
  window: { validAfter: bigint; validBefore: bigint }
  /** What settled it, or is about to. */
  transaction: { hash: Hash; finality: Finality } | null
}

/** An order as its buyer is shown it. */
export function buyerOrder(order: Order): BuyerOrder {
  const { amount, token, recipient, validAfter, validBefore, state } = order
  const window = { validAfter, validBefore }
  const transaction = transactionOf(order)
  return { amount, token, recipient, window, state, transaction }
}

function transactionOf({
  capture,
  cancellation,
  preconfirmed,
}: Order): BuyerOrder['transaction'] {
  const settled = capture ?? cancellation
  if (settled)
    return { hash: settled.transactionHash, finality: settled.finality }
  return preconfirmed === undefined
    ? null
    : { hash: preconfirmed, finality: 'preconfirmed' }
}
