import { checkMembers } from '../../core/checkMembers.js'
import type { OrdersContext } from '../context/types.js'
import { showOrder } from '../model/showOrder.js'
import type { Order } from '../model/types.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `get`: the order to load. */
export type GetOrderParameters = { orderId: string }

/** Implements `get` of `DestinationOrders`. */
export async function getOrder(
  context: OrdersContext,
  parameters: GetOrderParameters,
): Promise<Order> {
  checkMembers(parameters, ['orderId'])
  const { orderId } = parameters
  return showOrder(await loadShown(context, orderId))
}
