import { addAll } from '../core/addAll.js'
import { isTestOrderId } from '../core/testOrders.js'
import type { OrderEvent, Orders } from '../orders/index.js'
import type { Lease } from '../store/types.js'
import {
  type EventQueue,
  type EventQueues,
  eventQueues,
  queueKey,
} from './eventQueues.js'
import { type Pauses, startPauses } from './pauses.js'
import { type Progress, startProgress, writeProgress } from './progress.js'
import type { TargetRun } from './targets/types.js'

/** Most orders whose events may wait. Each keeps one event in memory. */
const mostWaiting = 10_000

/** The events to deliver to one target. */
export type Outbox = {
  orders: EventQueues
  /**
   * Events without an order. Separate from the events of orders, because
   * strangers can cause any number of them, for example by paying a recipient
   * without an order.
   */
  others: EventQueues
  /** Loads further events. Returns true when there may be more. */
  loadNext(): Promise<boolean>
  /** True when `mostWaiting` orders wait. No more events are loaded then. */
  isFull(): boolean
  /** Loads the next events of a queue that has none in memory. */
  fillQueue(queue: EventQueue): Promise<void>
  /**
   * Returns the events skipped since the last call, whose type the target does
   * not take.
   */
  takeSkipped(): readonly OrderEvent[]
  /** Records in `progress` that an event was delivered. */
  delivered(event: OrderEvent): void
  progress(): Progress
  /** The pauses with which this run began. */
  saved: Pauses
  /**
   * The pauses of events that failed, those included that are not loaded in this
   * run, and the cursor of the newest.
   */
  pauses(): Pick<Pauses, 'events' | 'failedTo'>
}

/** Loads the events of a target from where its last run stopped. */
export async function openOutbox(
  run: TargetRun,
  { lease, over }: { lease: Lease; over: AbortSignal },
): Promise<Outbox> {
  const progress = await startProgress(run, lease)
  const { read, open } = progress ?? (await begin(run, lease))
  const saved = await startPauses(run, lease)
  const orders = eventQueues(saved)
  const others = eventQueues(saved)
  const queuesOf = ({ orderId }: OrderEvent) =>
    orderId === undefined ? others : orders
  const skipped: OrderEvent[] = []
  let readTo = read
  let newest = read
  const delivered = ({ cursor }: OrderEvent) => {
    newest = laterOf(newest, cursor)
  }
  const isTaken = ({ type, orderId }: OrderEvent) =>
    !isTestOrderId(orderId) && (run.target.types?.includes(type) ?? true)
  const skip = (event: OrderEvent) => {
    skipped.push(event)
    delivered(event)
  }
  const unseen = await findOpen(run, open, (event) => {
    queuesOf(event).resume(event, isTaken(event))
    if (!isTaken(event)) skip(event)
  })
  const isFull = () => orders.size() >= mostWaiting
  const loadNext = async () => {
    if (isFull()) return false
    const { events, cursor } = await run.orders.events({ after: readTo })
    for (const event of events)
      if (isTaken(event)) queuesOf(event).add(event)
      else skip(event)
    readTo = cursor
    return events.length > 0
  }
  return {
    orders,
    others,
    saved,
    pauses: () => {
      const unread = [...saved.events].filter(([cursor]) => cursor > readTo)
      const failed = [...unread, ...orders.pauses(), ...others.pauses()]
      const cursors = failed.map(([cursor]) => cursor)
      const newest = cursors.reduce(laterOf, saved.failedTo)
      return {
        events: new Map(failed),
        failedTo: failed.length > 0 ? newest : 0n,
      }
    },
    isFull,
    loadNext,
    fillQueue: (queue) =>
      fillQueue(queue, {
        orders: run.orders,
        readTo: () => readTo,
        isTaken,
        over,
      }),
    takeSkipped: () => skipped.splice(0),
    delivered,
    progress: () => ({
      read: newest,
      open: [...unseen, ...orders.cursors(), ...others.cursors()]
        .filter((cursor) => cursor < newest)
        .sort((left, right) => Number(left - right)),
    }),
  }
}

function laterOf(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

/**
 * Saves where a new target begins. Otherwise, after a restart before the first
 * delivery, it could begin with another event.
 */
async function begin(run: TargetRun, lease: Lease): Promise<Progress> {
  const isNow = run.target.from === 'now'
  const { cursor: read } = isNow
    ? await run.orders.events({ after: 'latest' })
    : { cursor: 0n }
  const progress = { read, open: [] }
  await writeProgress(run, progress, { lease })
  return progress
}

/**
 * Loads the events that an earlier run did not deliver. Returns the cursors of
 * events that it did not find. Those belong to other shops, and wait for a run
 * that serves these shops.
 */
async function findOpen(
  { orders }: TargetRun,
  open: readonly bigint[],
  found: (event: OrderEvent) => void,
): Promise<bigint[]> {
  const unseen = new Set(open)
  let readTo = 0n
  for (const first of open) {
    if (first <= readTo) continue
    const { events, cursor } = await orders.events({ after: first - 1n })
    for (const event of events) if (unseen.delete(event.cursor)) found(event)
    readTo = cursor
  }
  return [...unseen]
}

/** The events that a queue is loaded from. */
type Stream = {
  orders: Pick<Orders, 'events'>
  /**
   * Up to this cursor, each event has been put into a queue or skipped by
   * `loadNext`.
   */
  readTo: () => bigint
  isTaken: (event: OrderEvent) => boolean
  over: AbortSignal
}

/** Loads the next events of a queue that has none in memory. */
async function fillQueue(
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
    addAll(queue.events, own.filter(isTaken))
    if (events.length > 0 && cursor < to) queue.after = cursor
    // Events that were loaded meanwhile were not added to this queue, because
    // not all of its events were in memory. The next round loads them.
    else queue.after = to < readTo() ? to : undefined
    // Checks for the end only after a read. One read is usually enough, and its
    // result is used even if the run is ending.
    if (over.aborted) return
  }
}
