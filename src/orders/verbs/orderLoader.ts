import { parseOrderId } from '../../core/parseOrderId.js'
import { nextTurn } from '../../core/wait.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { PaymentStore } from '../../store/types.js'
import { OrderNotFoundError } from '../model/errors.js'
import { loadOrders, withRefunds } from '../model/loadOrders.js'
import type {
  IsWanted,
  OrderLoader,
  StoredOrder,
} from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'

/**
 * Most orders to load in one database transaction, so that it does not block
 * other queries for long.
 */
const mostOrders = 32

/**
 * Creates a loader. All orders that are requested in one turn of the event loop
 * are loaded in one database transaction.
 */
export function orderLoader(store: PaymentStore): OrderLoader {
  type Batch = {
    wanted: Map<string, IsWanted[]>
    loaded: Promise<ReadonlyMap<string, StoredOrder>>
  }
  let open: Batch | undefined
  const load = (wanted: Batch['wanted']) =>
    store.read(async (tables) =>
      withRefunds(
        tables,
        await loadOrders(tables, { ids: [...wanted.keys()] }, (order) =>
          (wanted.get(order.id) ?? []).some((isWanted) => isWanted(order)),
        ),
      ),
    )
  const openBatch = (): Batch => {
    const wanted: Batch['wanted'] = new Map()
    const batch: Batch = {
      wanted,
      loaded: nextTurn().then(() => {
        if (open === batch) open = undefined
        return load(wanted)
      }),
    }
    return batch
  }
  return async (orderId, isWanted) => {
    if (!open || open.wanted.size >= mostOrders) open = openBatch()
    const { wanted, loaded } = open
    wanted.set(orderId, [...(wanted.get(orderId) ?? []), isWanted])
    const found = await loaded.catch((error: unknown) => {
      // One row that cannot be read must not fail the other orders: load each
      // alone.
      if (wanted.size === 1 || Object(error).retryable) throw error
      return load(new Map([[orderId, [isWanted]]]))
    })
    const stored = found.get(orderId)
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
