import type { Address } from 'viem'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import type { BookOrder } from './applyEvent.js'

/** A payment of an order that another payment had already settled. */
export type SecondPayment = {
  /** The ids of its refunds begin with this id. */
  refundId: string
  /** The account that paid it. */
  to: Address
  /** Token units that can still be refunded. */
  left: bigint
}

/**
 * Finds the payments that came after the one that settled the order. Refunds of
 * the order itself do not refund them.
 */
export function secondPayments(
  order: BookOrder,
  events: readonly MerchantEvent[],
): readonly SecondPayment[] {
  if (!order.overpaid) return []
  const found = new Map<string, SecondPayment>()
  for (const event of events) {
    if (event.type !== 'overpaid') continue
    const { refundId, refundTo, value, transactionHash } = event.data
    // After a reorganization, it may be the payment that settled the order.
    if (transactionHash === order.capture?.transactionHash) continue
    const left = BigInt(value) - refundedOf(order, refundId)
    found.set(refundId, { refundId, to: refundTo, left })
  }
  return [...found.values()]
}

function refundedOf({ refunds }: BookOrder, refundId: string): bigint {
  return refunds
    .filter(
      (one) =>
        one.reserved &&
        (one.refundId === refundId || one.refundId.startsWith(`${refundId}/`)),
    )
    .reduce((sum, { value }) => sum + BigInt(value), 0n)
}
