import type { Orders } from '../orders/createOrders.js'
import type { OrderEvent } from '../records/types.js'
import { type EventQueue, queueKey } from './eventQueues.js'

/** What is known of the stream while a queue is read. */
type Stream = {
  orders: Pick<Orders, 'events'>
  /** The cursor up to which everything is in memory or left out by a queue. */
  readTo: () => bigint
  isTaken: (event: OrderEvent) => boolean
  over: AbortSignal
}

/** Reads the next events of a queue that has none in memory. */
export async function readQueue(
  queue: EventQueue,
  { orders, readTo, isTaken, over }: Stream,
): Promise<void> {
  const { orderId } = queue
  while (queue.after !== undefined && queue.events.length === 0) {
    const to = readTo()
    const { events, cursor } = await orders.events({
      after: queue.after,
      ...(orderId === undefined ? { limit: 1000 } : { limit: 100, orderId }),
    })
    const own = events.filter(
      (event) => queueKey(event) === queue.key && event.cursor <= to,
    )
    queue.events.push(...own.filter(isTaken))
    if (events.length > 0 && cursor < to) queue.after = cursor
    // Events that were read meanwhile were left out, as this was not at its end.
    else queue.after = to < readTo() ? to : undefined
    // One read is usually enough to put on record that nothing is left.
    if (over.aborted) return
  }
}
