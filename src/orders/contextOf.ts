import { InvalidFieldError } from '../core/errors.js'
import type { OrdersContext } from './context/types.js'
import type { Instance } from './createInstance.js'
import type { DestinationOrders } from './DestinationOrders.js'
import type { RefundOrderParameters } from './verbs/refundOrder.js'
import type { LimitedRefundVerdict } from './verbs/refundWithinLimit.js'

/** What other parts of this package may use of an `Orders` object. */
export type OrdersInside = {
  context: OrdersContext
  instance: Instance
  /**
   * Like `refund`, but within a daily limit. `limitOf` gets the token's
   * decimals and returns the limit in token units.
   */
  refundWithinLimit(
    parameters: RefundOrderParameters,
    limitOf: (decimals: number) => bigint,
  ): Promise<LimitedRefundVerdict>
}

const known = /* @__PURE__ */ new WeakMap<object, OrdersInside>()

export function keepContext<orders extends DestinationOrders>(
  orders: orders,
  inside: OrdersInside,
): orders {
  known.set(orders, inside)
  return orders
}

/**
 * Returns the context and instance of an `Orders` object, so that other parts
 * of this package can share its store, clients and policy.
 *
 * @throws {@link InvalidFieldError} when `createOrders` did not make them.
 */
export function contextOf(orders: DestinationOrders): OrdersInside {
  const inside = known.get(Object(orders))
  if (inside) return inside
  throw new InvalidFieldError(
    'orders',
    orders,
    'the object that createOrders or orders.within returned',
  )
}
