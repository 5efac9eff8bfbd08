import { InvalidFieldError } from '../core/errors.js'
import type { Instance } from './createInstance.js'
import type { DestinationOrders } from './DestinationOrders.js'
import type { OrdersContext } from './model/types.js'

/** What the methods of some orders work with. */
export type OrdersInside = {
  context: OrdersContext
  instance: Instance
}

const known = /* @__PURE__ */ new WeakMap<object, OrdersInside>()

/** Remembers what the methods of these orders work with. */
export function keepContext<orders extends DestinationOrders>(
  orders: orders,
  inside: OrdersInside,
): orders {
  known.set(orders, inside)
  return orders
}

/**
 * What the methods of some orders work with, for other parts of this package:
 * they share its store, clients and policy, and need no second copy of them.
 *
 * @throws {@link InvalidFieldError} when `createOrders` did not make them.
 */
export function contextOf(orders: DestinationOrders): OrdersInside {
  const inside = known.get(Object(orders))
  if (inside) return inside
  throw new InvalidFieldError(
    'orders',
    orders,
    'what createOrders or within gave',
  )
}
