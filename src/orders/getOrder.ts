import { showOrder } from '../draft/showOrder.js'
import { findOrder } from '../records/findOrder.js'
import type { Order, OrdersContext } from '../records/types.js'

/** What `get` takes. */
export type GetOrderParameters = { orderId: string }

/**
 * Reads an order as it is on record; asks no node.
 *
 * @throws {@link OrderNotFoundError}
 */
export async function getOrder(
  context: OrdersContext,
  { orderId }: GetOrderParameters,
): Promise<Order> {
  return context.store.read(async (tables) =>
    showOrder(await findOrder(tables, context, orderId)),
  )
}
