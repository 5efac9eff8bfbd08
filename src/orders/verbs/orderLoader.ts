import { gatherCalls } from '../../core/gatherCalls.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
import type { PaymentStore } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { OrderNotFoundError } from '../model/errors.js'
import { loadOrders, withRefunds } from '../model/loadOrders.js'
import type {
  IsWanted,
  OrderLoader,
  StoredOrder,
} from '../model/storedOrder.js'

/**
 * Most orders to load in one database transaction, so that it does not block
 * other queries for long.
 */
const mostOrders = 32

type WantedOrder = { orderId: string; isWanted: IsWanted }

/**
 * Creates a loader. All orders that are requested in one turn of the event loop
 * are loaded in one database transaction.
 */
export function orderLoader(store: PaymentStore): OrderLoader {
  const load = gatherCalls<WantedOrder, StoredOrder | undefined>({
    work: async (wanted) => {
      const ids = [...new Set(wanted.map(({ orderId }) => orderId))]
      const found = await store.read(async (tables) =>
        withRefunds(
          tables,
          await loadOrders(tables, { ids }, (order) =>
            wanted.some(
              (one) => one.orderId === order.id && one.isWanted(order),
            ),
          ),
        ),
      )
      return wanted.map(({ orderId }) => found.get(orderId))
    },
    choose: (waiting) => waiting.slice(0, mostOrders),
    atOnce: Number.POSITIVE_INFINITY,
    waitsForTurn: true,
    isWorthAlone,
  })
  return async (orderId, isWanted) => {
    const stored = await load({ orderId, isWanted })
    return stored && isWanted(stored.order) ? stored : undefined
  }
}

/**
 * Loads an order of this instance's destinations, for reading.
 *
 * @param isShown decides by the order alone, before anything else is loaded. An
 * order that is hidden from the caller then takes no longer than a missing one,
 * so the response time does not tell whether it exists.
 * @throws {@link OrderNotFoundError} when the order is missing or hidden.
 */
export async function loadShown(
  { loader, destinations }: Pick<OrdersContext, 'loader' | 'destinations'>,
  orderId: string,
  isShown: IsWanted = () => true,
): Promise<StoredOrder> {
  const id = parseOrderId(orderId)
  const stored = await loader(
    id,
    (order) => isInDestinations(order, destinations) && isShown(order),
  )
  if (!stored) throw new OrderNotFoundError({ orderId: id })
  return stored
}
