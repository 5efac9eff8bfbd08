import { checkMembers } from '../../core/checkMembers.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import { parseLimit, parsePosition } from '../../core/parsePage.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { EventRecord, StoreReader } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { CursorAheadError, OrderNotFoundError } from '../model/errors.js'
import type { OrderEvent } from '../model/orderEvents.js'

/** Parameters of `events`: which events to return. */
export type ListEventsParameters = {
  /**
   * The `cursor` of the last page: returns the events after it. `'latest'`
   * returns no events, and the cursor of the newest one.
   * @default 0n, the beginning
   */
  after?: bigint | 'latest' | undefined
  /** Most events to return, up to 1000. @default 100 */
  limit?: number | undefined
  /**
   * Return only events of this order.
   * @default all orders, and events without an order
   */
  orderId?: string | undefined
}

/** A page of events, sorted by cursor. */
export type ListedEvents = {
  events: readonly OrderEvent[]
  /**
   * Pass it as `after` next time. Save it after you have handled the events.
   */
  cursor: bigint
}

/** Implements `events` of `DestinationOrders`. */
export async function listEvents(
  context: OrdersContext,
  parameters: ListEventsParameters = {},
): Promise<ListedEvents> {
  checkMembers(parameters, ['after', 'limit', 'orderId'])
  const { after = 0n, orderId } = parameters
  if (after !== 'latest') parsePosition(after, 'after')
  const limit = parseLimit(parameters.limit, { usual: 100, most: 1_000 })
  return context.store.read(async (tables) => {
    const rows = await (orderId === undefined
      ? findStreamEvents(tables, context, after, limit)
      : findOrderEvents(tables, context, orderId))
    const last = rows.at(-1)?.cursor ?? 0n
    if (after === 'latest') return { events: [], cursor: last }
    const events = rows.filter(({ cursor }) => cursor > after).slice(0, limit)
    // If any event is at or after the cursor, the cursor comes from this
    // database. So check the cursor only if none was found.
    if (last < after) await checkCursor(tables, after)
    return {
      events: events.map(showEvent),
      cursor: events.at(-1)?.cursor ?? after,
    }
  })
}

function findStreamEvents(
  { events }: StoreReader,
  { destinations }: OrdersContext,
  after: bigint | 'latest',
  limit: number,
): Promise<EventRecord[]> {
  return events.find(
    after === 'latest'
      ? { newest: destinations }
      : { destinations, after, limit },
  )
}

async function findOrderEvents(
  { orders, events }: StoreReader,
  { destinations }: OrdersContext,
  orderId: string,
): Promise<EventRecord[]> {
  const id = parseOrderId(orderId)
  const [order] = await orders.find({ ids: [id] })
  if (!order || !isInDestinations(order, destinations))
    throw new OrderNotFoundError({ orderId: id })
  return events.find({ orderIds: [id] })
}

/**
 * Checks that the cursor is not ahead of all events. All shops of a store share
 * one sequence of cursors, so compare with the newest event of any shop.
 */
async function checkCursor(
  { events }: StoreReader,
  after: bigint,
): Promise<void> {
  if (after === 0n) return
  const [last] = await events.find({ newest: 'all' })
  const newest = last?.cursor ?? 0n
  if (after > newest) throw new CursorAheadError({ after, newest })
}

/**
 * Gives a stored event its type. The cast is safe: only the orders write
 * events, and `NewEvent` types what they write.
 */
function showEvent(row: EventRecord): OrderEvent {
  return row as OrderEvent
}
