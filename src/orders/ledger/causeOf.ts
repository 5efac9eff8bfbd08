import type { Address } from 'viem'
import type {
  OrderRecord,
  ProofRecord,
  StoreReader,
} from '../../store/types.js'
import { isMovement } from '../model/movementEvents.js'
import { isRefund, refundIdOf } from '../model/refundRow.js'

/** What tokens moved for, or gas was paid for. */
export type Cause = {
  orderId: string | undefined
  /**
   * Set for a refund: its id, and the payer of the order, who gets the tokens.
   */
  refund?: { id: string; to: Address } | undefined
  /** Set for a deposit, claim or refund of channels, which has no order. */
  movementId?: string | undefined
}

/**
 * Returns the order that a row of the table of orders stands for. The row of a
 * refund stands for the order that it refunds, and that of a movement of channels
 * for no order.
 */
export function causeOf(order: OrderRecord | undefined): Cause {
  if (!order) return { orderId: undefined }
  if (isMovement(order)) return { orderId: undefined, movementId: order.id }
  if (!isRefund(order)) return { orderId: order.id }
  const { parentId: orderId, payee: to } = order
  return { orderId, refund: { id: refundIdOf(order), to } }
}

/** Loads the orders that stored payments or transactions belong to, by id. */
export async function loadOrdersOf(
  { orders }: Pick<StoreReader, 'orders'>,
  rows: readonly Pick<ProofRecord, 'orderId'>[],
): Promise<ReadonlyMap<string, OrderRecord>> {
  const ids = [...new Set(rows.flatMap(({ orderId }) => orderId ?? []))]
  const found = ids.length > 0 ? await orders.find({ ids }) : []
  return new Map(found.map((order) => [order.id, order]))
}

/**
 * Returns the order's finality if this stored payment is the one that settled
 * it.
 */
export function finalityOf(
  { transactionHash }: ProofRecord,
  order: OrderRecord | undefined,
): OrderRecord['finality'] {
  return order?.settledHash === transactionHash ? order.finality : undefined
}
