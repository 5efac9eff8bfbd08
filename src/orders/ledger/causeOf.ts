import type { Address } from 'viem'
import type {
  OrderRecord,
  ProofRecord,
  StoreReader,
} from '../../store/types.js'

/** Why tokens moved or gas was paid. */
export type Cause = {
  orderId: string | undefined
  /** Set for a refund: its id, and the payer who gets the tokens back. */
  refund?: { id: string; to: Address } | undefined
}

/**
 * Finds out which order an order's row stands for. The row of a refund stands
 * for the order that it refunds.
 */
export function causeOf(order: OrderRecord | undefined): Cause {
  if (!order) return { orderId: undefined }
  const { id, refundOf, refundId, refundTo } = order
  if (refundOf === undefined || refundTo === undefined) return { orderId: id }
  return { orderId: refundOf, refund: { id: refundId ?? id, to: refundTo } }
}

/** Loads the orders of proofs or transactions, by id. */
export async function loadOrdersOf(
  { orders }: Pick<StoreReader, 'orders'>,
  rows: readonly Pick<ProofRecord, 'orderId'>[],
): Promise<ReadonlyMap<string, OrderRecord>> {
  const ids = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const found = ids.length > 0 ? await orders.find({ ids }) : []
  return new Map(found.map((order) => [order.id, order]))
}

/** The finality of a proof, if it is the one that settled its order. */
export function finalityOf(
  { transactionHash }: ProofRecord,
  order: OrderRecord | undefined,
): OrderRecord['finality'] {
  return order?.settledHash === transactionHash ? order.finality : undefined
}
