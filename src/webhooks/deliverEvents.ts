import { startLoop } from '../core/loop.js'
import type { EventQueue, EventQueues } from './eventQueues.js'
import { eventFacts, observeStop } from './observeTarget.js'
import { type Outbox, openOutbox } from './openOutbox.js'
import { type ProgressSaver, progressSaver } from './saveProgress.js'
import { type TargetPace, targetPace } from './targetPace.js'
import type { TargetRun } from './targets/types.js'
import { tryQueue } from './tryQueue.js'
import type { LeaseHold } from './underLease.js'

/**
 * Queues with limits of their own. Events of orders are in one group and events
 * without an order in another, so that neither holds up the other.
 */
type Share = {
  queues: EventQueues
  pace: TargetPace
  /** Tries that are running. */
  running: Set<Promise<void>>
  /** Queues that are being tried now and have failed before. */
  retrying: Set<EventQueue>
}

/** The state of delivering to one target while the lease is held. */
type Turn = {
  run: TargetRun
  hold: LeaseHold
  outbox: Outbox
  saver: ProgressSaver
  orders: Share
  /**
   * Events without an order. While the receiver's failures delay the orders,
   * these wait too.
   */
  others: Share
  loading: Loading
  /** Makes the loop that starts tries run again at once. */
  ring: () => void
  /**
   * Stops delivering to this target: it answered 410 and wants no more events.
   */
  leave: () => void
}

/**
 * The loading of further events from the store, which pauses after a failure.
 */
type Loading = {
  failures: number
  /** Time of the next try, by `performance.now()`. */
  until: number
  isFull: boolean
}

/** Most orders for which an event is sent at the same time. */
const widest = 8

/**
 * Delivers events to one target while this process holds its lease, several
 * orders at a time, and saves how far it has come.
 *
 * @returns true when the receiver answered 410: it wants no more events.
 */
export async function deliverEvents(
  run: TargetRun,
  hold: LeaseHold,
): Promise<boolean> {
  const outbox = await openOutbox(run, hold)
  const saver = progressSaver(run, hold, outbox.progress)
  let isGone = false
  const turn: Turn = {
    run,
    hold,
    outbox,
    saver,
    orders: startShare(run, outbox.orders, widest),
    others: startShare(run, outbox.others, 1),
    loading: { failures: 0, until: 0, isFull: false },
    ring: () => loop.wake(),
    leave: () => {
      isGone = true
      hold.lose()
    },
  }
  const loop = startLoop(
    {
      look: () => work(turn),
      // Throws, which gives up the lease: another process may do better.
      failed: (error) => {
        throw error
      },
    },
    hold.over,
  )
  const forget = run.store.onChange?.(loop.wake)
  try {
    await loop.ended
  } finally {
    forget?.()
    await Promise.all([...turn.orders.running, ...turn.others.running])
    await saver.settled()
  }
  return isGone
}

function startShare(
  { tools }: TargetRun,
  queues: EventQueues,
  width: number,
): Share {
  return {
    queues,
    pace: targetPace(tools.pause, width),
    running: new Set(),
    retrying: new Set(),
  }
}

/**
 * Starts all tries that may start now. Returns the milliseconds until it must
 * run again.
 */
async function work(turn: Turn): Promise<number> {
  const { run, hold, orders, others } = turn
  const { look } = run.tools
  do {
    startTries(turn, orders)
    startTries(turn, others)
  } while (
    !orders.queues.hasFresh(orders.pace.refused()) &&
    !hold.over.aborted &&
    (await loadNext(turn))
  )
  // Times that are over are left out: those queues wait for the store or for a
  // running try, and both wake this loop.
  const due = [orders, others].map(({ queues, pace }) =>
    Math.max(queues.nextDue(), pace.until()),
  )
  const pauses = due.map((time) => time - performance.now())
  return Math.min(look, ...pauses.filter((pause) => pause > 0))
}

async function loadNext(turn: Turn): Promise<boolean> {
  const { run, outbox, saver, loading } = turn
  if (performance.now() < loading.until) return false
  observeFull(turn)
  try {
    const isMore = await outbox.loadNext()
    for (const event of outbox.takeSkipped()) {
      const attributes = eventFacts(run, event)
      run.observe({ name: 'webhook.skipped', attributes })
      saver.save()
    }
    loading.failures = 0
    return isMore
  } catch (error) {
    observeStop(run, error)
    loading.failures++
    const pause = run.tools.pause(loading.failures)
    loading.until = performance.now() + pause
    return false
  }
}

function observeFull({ run, outbox, loading }: Turn): void {
  const isFull = outbox.isFull()
  if (isFull && !loading.isFull) {
    const attributes = { target: run.target.name, orders: outbox.orders.size() }
    run.observe({ name: 'outbox.full', attributes })
  }
  loading.isFull = isFull
}

function startTries(turn: Turn, share: Share): void {
  const { run, hold, outbox, saver, ring } = turn
  const { queues, pace, running, retrying } = share
  const isAllowed = () =>
    performance.now() >= Math.max(pace.until(), turn.orders.pace.until()) &&
    hold.lasts(run.tools.timeout) &&
    !hold.over.aborted &&
    !saver.isStuck()
  while (isAllowed()) {
    const retries = retrying.size
    const queue = queues.take({
      now: performance.now(),
      // A try can last until its timeout. Events that failed before leave at
      // least one place for new ones, and new ones leave at least one for them.
      isFreshAllowed:
        running.size - retries < Math.max(1, pace.width() - retries),
      isRetryAllowed: retries < Math.max(1, pace.width() / 2),
      refused: pace.refused(),
    })
    if (!queue) return
    if (queue.failures > 0) retrying.add(queue)
    const parts = { run, outbox, queues, saver, pace, leave: turn.leave }
    const trying = tryQueue(parts, queue)
      .catch((error: unknown) => {
        // If loading the events of one order fails, only that order waits.
        const pause = run.tools.pause(queue.failures + 1)
        queues.delay(queue, performance.now() + pause)
        observeStop(run, error, queue.events[0])
      })
      .finally(() => {
        running.delete(trying)
        retrying.delete(queue)
        ring()
      })
    running.add(trying)
  }
}
