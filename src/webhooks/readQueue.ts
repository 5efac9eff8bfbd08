import type { OrderEvent } from '../orders/model/types.js'
import type { Orders } from '../orders/Orders.js'
import { type EventQueue, queueKey } from './eventQueues.js'

/** The event stream that a queue is read from. */
type Stream = {
  orders: Pick<Orders, 'events'>
  /** The cursor up to which queues hold each event or have left it out. */
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
    // The queue left out events that arrived meanwhile: read on to them.
    else queue.after = to < readTo() ? to : undefined
    // Checked after a read: one usually shows that nothing is left.
    if (over.aborted) return
  }
}
