import type { OrderEvent } from '../records/types.js'

/** The events of one order that are not delivered, the first first. */
export type EventQueue = {
  events: OrderEvent[]
  /** Tries of the first one that came to nothing. */
  failures: number
  /** When it may be tried again. */
  until: number
  /** It is being tried. */
  busy: boolean
}

/** Events by order: one waits for those before it of its own order only. */
export type EventQueues = {
  add(event: OrderEvent): void
  /**
   * An event that may be tried now, rather one that never failed; its queue is
   * busy from then on.
   */
  take(now: number): { queue: EventQueue; event: OrderEvent } | undefined
  /** The one that was taken is delivered. */
  drop(queue: EventQueue): void
  /** The one that was taken is to be tried again, not before that time. */
  delay(queue: EventQueue, until: number): void
  /** Whether there is one that could be tried now and never failed. */
  hasFresh(): boolean
  /** When the next one may be tried, of those that are not. */
  nextDue(): number
  /** The cursors of all that is not delivered, in no order. */
  cursors(): bigint[]
}

export function eventQueues(): EventQueues {
  const queues = new Map<string, EventQueue>()
  const isReady = ({ busy, until }: EventQueue, now: number): boolean =>
    !busy && until <= now
  return {
    add: (event) => {
      const queue = queues.get(keyOf(event))
      if (queue) queue.events.push(event)
      else queues.set(keyOf(event), startQueue(event))
    },
    take: (now) => {
      const ready = [...queues.values()].filter((queue) => isReady(queue, now))
      const queue = ready.find(isFresh) ?? ready[0]
      const [event] = queue?.events ?? []
      if (!queue || !event) return undefined
      queue.busy = true
      return { queue, event }
    },
    drop: (queue) => {
      const event = queue.events.shift()
      Object.assign(queue, { busy: false, failures: 0, until: 0 })
      if (!event) return
      // Behind the others, so that one long order does not hold them up.
      queues.delete(keyOf(event))
      if (queue.events.length > 0) queues.set(keyOf(event), queue)
    },
    delay: (queue, until) => {
      Object.assign(queue, { busy: false, until })
      queue.failures++
    },
    hasFresh: () =>
      [...queues.values()].some((queue) => !queue.busy && isFresh(queue)),
    nextDue: () =>
      Math.min(
        ...[...queues.values()]
          .filter(({ busy }) => !busy)
          .map(({ until }) => until),
      ),
    cursors: () =>
      [...queues.values()].flatMap(({ events }) =>
        events.map(({ cursor }) => cursor),
      ),
  }
}

function isFresh({ failures }: EventQueue): boolean {
  return failures === 0
}

function startQueue(event: OrderEvent): EventQueue {
  return { events: [event], failures: 0, until: 0, busy: false }
}

/** What concerns no order is in the queue of its recipient. */
function keyOf({ orderId, chainId, token, recipient }: OrderEvent): string {
  return orderId === undefined
    ? `scope ${chainId} ${token} ${recipient}`
    : `order ${orderId}`
}
