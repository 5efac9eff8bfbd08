import type { OrderEvent } from '../orders/index.js'
import {
  type EventPause,
  noPauses,
  type Pauses,
  pauseOfEvent,
} from './pauses.js'

/** The undelivered events of one order. */
export type EventQueue = {
  key: string
  /** Absent if these events concern no order. */
  orderId: string | undefined
  /** Events that are loaded into memory, in the order to deliver them. */
  events: OrderEvent[]
  /**
   * Cursor of the last delivered event. If none is delivered yet, cursor of the
   * first event.
   */
  last: bigint
  /**
   * Events after this cursor are only in the database. Absent if all events are
   * in memory.
   */
  after: bigint | undefined
  /** How often delivering the first event has failed. */
  failures: number
  /** Time of the next delivery, by `performance.now()`. */
  until: number
  /** True while the first event is being sent. */
  busy: boolean
}

/** Limits which queue `take` may return. */
type QueueChoice = {
  now: number
  /** True to allow a queue that has not failed. */
  isFreshAllowed: boolean
  /** True to allow a queue whose first event failed before. */
  isRetryAllowed: boolean
  /**
   * Types of events that the receiver refused since its last success. A queue
   * that begins with another type goes first.
   */
  refused: ReadonlySet<string>
}

/**
 * Undelivered events in one queue for each order. An event waits only for
 * earlier events of the same order.
 */
export type EventQueues = {
  add(event: OrderEvent): void
  /**
   * Restores a queue that an earlier run did not finish, beginning with this
   * event. Later events are loaded from the database when they are needed.
   */
  resume(event: OrderEvent, isTaken: boolean): void
  /**
   * Returns a queue whose first event may be sent now, and marks the queue
   * busy. Prefers queues that have not failed.
   */
  take(choice: QueueChoice): EventQueue | undefined
  /** Removes the first event after it was delivered. */
  drop(queue: EventQueue): void
  /** Marks the queue as not busy; forgets it if it is empty. */
  release(queue: EventQueue): void
  /** Delays the next delivery of the first event. */
  delay(queue: EventQueue, until: number): void
  /**
   * True when some waiting queue has not failed, and the receiver has not
   * refused the type of its first event.
   */
  hasFresh(refused?: ReadonlySet<string>): boolean
  /**
   * Time at which the next waiting queue may be sent, by `performance.now()`.
   */
  nextDue(): number
  /** The cursor at which each queue begins, unsorted. */
  cursors(): bigint[]
  /** The first events that failed, by their cursors. */
  pauses(): [bigint, EventPause][]
  size(): number
}

/**
 * Most events in memory: an exact limit for one queue, a rough one for all
 * together.
 */
const mostKept = 100
const mostKeptInAll = 10_000

export function eventQueues(saved: Pauses = noPauses): EventQueues {
  const queues = new Map<string, EventQueue>()
  const start = (event: OrderEvent) => ({
    ...startQueue(event),
    ...pauseOfEvent(saved, event.cursor),
  })
  const waiting = () => [...queues.values()].filter(({ busy }) => !busy)
  return {
    add: (event) => {
      const queue = queues.get(queueKey(event))
      const most = Math.min(mostKept, mostKeptInAll / queues.size)
      if (queue) append(queue, event, most)
      else queues.set(queueKey(event), start(event))
    },
    resume: (event, isTaken) => {
      const key = queueKey(event)
      if (queues.has(key)) return
      const queue = isTaken ? start(event) : startQueue(event)
      if (!isTaken) queue.events = []
      queue.after = event.cursor
      queues.set(key, queue)
    },
    take: ({ now, isFreshAllowed, isRetryAllowed, refused }) => {
      const ready = waiting().filter(({ until }) => until <= now)
      const fresh = isFreshAllowed ? ready.filter(isFresh) : []
      const failed = isRetryAllowed ? ready.filter((it) => !isFresh(it)) : []
      const queue =
        fresh.find((it) => !isRefused(it, refused)) ??
        fresh[0] ??
        longestDue(failed)
      if (queue) queue.busy = true
      return queue
    },
    drop: (queue) => {
      const event = queue.events.shift()
      if (event) queue.last = event.cursor
      Object.assign(queue, { failures: 0, until: 0 })
    },
    release: (queue) => {
      queue.busy = false
      // Moves the queue to the end, so that an order with many events does not
      // delay others.
      queues.delete(queue.key)
      if (queue.events.length > 0 || queue.after !== undefined)
        queues.set(queue.key, queue)
    },
    delay: (queue, until) => {
      Object.assign(queue, { busy: false, until })
      queue.failures++
      const behind = queue.events.splice(1)
      if (behind.length > 0) queue.after = firstCursor(queue)
    },
    hasFresh: (refused = new Set()) =>
      waiting().some((queue) => isFresh(queue) && !isRefused(queue, refused)),
    nextDue: () => Math.min(...waiting().map(({ until }) => until)),
    cursors: () => [...queues.values()].map(firstCursor),
    pauses: () =>
      [...queues.values()]
        .filter((queue) => !isFresh(queue))
        .map((queue) => {
          const { failures, until } = queue
          return [firstCursor(queue), { failures, until }]
        }),
    size: () => queues.size,
  }
}

/**
 * Adds an event to a queue. If the queue is full or has failed, leaves the
 * event in the database, so that waiting orders take little memory.
 */
function append(queue: EventQueue, event: OrderEvent, most: number): void {
  if (queue.after !== undefined) return
  const isFull = queue.failures > 0 || queue.events.length >= most
  if (isFull) queue.after = queue.events.at(-1)?.cursor ?? queue.last
  else queue.events.push(event)
}

function firstCursor({ events, last }: EventQueue): bigint {
  return events[0]?.cursor ?? last
}

function isFresh({ failures }: EventQueue): boolean {
  return failures === 0
}

function isRefused(
  { events }: EventQueue,
  refused: ReadonlySet<string>,
): boolean {
  const [first] = events
  return first !== undefined && refused.has(first.type)
}

/**
 * Returns the queue that has been due for the longest time. With any other
 * choice, a queue might wait forever.
 */
function longestDue(ready: readonly EventQueue[]): EventQueue | undefined {
  const first = Math.min(...ready.map(({ until }) => until))
  return ready.find(({ until }) => until === first)
}

function startQueue(event: OrderEvent): EventQueue {
  return {
    key: queueKey(event),
    orderId: event.orderId,
    events: [event],
    last: event.cursor,
    after: undefined,
    failures: 0,
    until: 0,
    busy: false,
  }
}

/**
 * Key of an event's queue: its order. Events without an order share a queue for
 * each recipient and type.
 */
export function queueKey(event: OrderEvent): string {
  const { orderId, chainId, token, recipient, type } = event
  return orderId === undefined
    ? `none ${chainId} ${token} ${recipient} ${type}`
    : `order ${orderId}`
}
