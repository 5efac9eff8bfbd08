import type { Hash } from 'viem'
import type { Finality } from '../../core/types.js'
import type { Order, Refund, RefundState } from '../../orders/index.js'

/** All that a buyer sees of an order. */
export type BuyerOrder = Pick<
  Order,
  'amount' | 'atMost' | 'chainId' | 'token' | 'recipient' | 'state'
> & {
  /** Unix seconds between which the payment is valid, both excluded. */
  window: { validAfter: bigint; validBefore: bigint }
  /**
   * The transaction that settled the order. Before that, a capture that is only
   * pre-confirmed: announced by the chain's sequencer, but not yet in a block.
   */
  transaction: { hash: Hash; finality: Finality } | null
  /** Refunds of the order, oldest first. */
  refunds: readonly BuyerRefund[]
}

/** All that a buyer sees of a refund. */
export type BuyerRefund = {
  state: RefundState
  /** Refunded amount, a decimal in whole tokens. */
  amount: string
  /** The transaction that paid it back; `null` unless it succeeded. */
  transaction: { hash: Hash; blockNumber: bigint; finality: Finality } | null
}

/** Returns the part of an order that its buyer may see. */
export function buyerOrder(order: Order): BuyerOrder {
  const { amount, atMost, chainId, token, recipient, state } = order
  const { validAfter, validBefore } = order
  return {
    amount,
    atMost,
    chainId,
    token,
    recipient,
    window: { validAfter, validBefore },
    state,
    transaction: transactionOf(order),
    refunds: order.refunds.map(buyerRefund),
  }
}

function buyerRefund({ state, amount, transfer }: Refund): BuyerRefund {
  return {
    state,
    amount,
    transaction: transfer
      ? {
          hash: transfer.transactionHash,
          blockNumber: transfer.blockNumber,
          finality: transfer.finality,
        }
      : null,
  }
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
