import { startLoop } from '../core/loop.js'
import { type LoopState, working } from '../core/untilIdle.js'
import { LeaseLostError } from '../store/errors.js'
import type { EventQueue, EventQueues } from './eventQueues.js'
import { eventFacts, observeStop } from './observeTarget.js'
import { type Outbox, openOutbox } from './openOutbox.js'
import { isNone, type Pauses, savePauses } from './pauses.js'
import { isReplayRequested } from './progress.js'
import { type ProgressSaver, progressSaver } from './saveProgress.js'
import { type TargetPace, targetPace } from './targetPace.js'
import type { TargetRun } from './targets/types.js'
import { tryQueue } from './tryQueue.js'
import type { LeaseHold } from './underLease.js'

/**
 * Queues of events with limits of their own. Events of orders are in one group
 * and events without an order in another, so that neither delays the other.
 */
type Share = {
  queues: EventQueues
  pace: TargetPace
  /** Deliveries that are running now. */
  running: Set<Promise<void>>
  /** Queues whose first event failed before and is being sent again now. */
  retrying: Set<EventQueue>
}

/**
 * State of the deliveries to one target, while this process holds the target's
 * lease.
 */
type Turn = {
  run: TargetRun
  hold: LeaseHold
  outbox: Outbox
  saver: ProgressSaver
  orders: Share
  /**
   * Events without an order. They also wait when failures of the receiver delay
   * the events of orders.
   */
  others: Share
  loading: Loading
  /** False until new events were looked for. */
  isStarted: boolean
  /**
   * Time at which to look for a requested replay, by `performance.now()`.
   */
  replayLook: number
  /** Wakes the loop that starts deliveries. */
  ring: () => void
  /**
   * Stops the deliveries to this target, because it answered 410: it wants no
   * more events.
   */
  leave: () => void
}

/**
 * State of loading further events from the store. After a failure, loading
 * pauses.
 */
type Loading = {
  failures: number
  /** Time of the next try to load, by `performance.now()`. */
  until: number
  isFull: boolean
}

/** Most orders whose events are sent at the same time. */
const widest = 8

/**
 * Milliseconds until a call of `runDue` sends again after a 410. A run that stays
 * sends nothing more.
 */
const untilGoneAsked = 3_600_000

/**
 * A call of `runDue` waits so many milliseconds for the end of a pause, if events
 * wait that have not failed. Otherwise each refused event among them would
 * delay the others until the next call.
 */
const shortPause = 5000

/**
 * Delivers events to one target while this process holds the target's lease.
 * Sends events of several orders at a time, and saves the progress.
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
    orders: startShare(
      outbox.orders,
      targetPace(run.tools.pause, widest, outbox.saved),
    ),
    others: startShare(outbox.others, targetPace(run.tools.pause, 1)),
    loading: { failures: 0, until: 0, isFull: false },
    isStarted: false,
    replayLook: performance.now() + run.tools.replay,
    ring: () => loop.wake(),
    leave: () => {
      isGone = true
      hold.lose()
    },
  }
  const loop = startLoop(
    {
      look: () => work(turn),
      // Throws, which gives up the lease: another process may be able to save
      // the progress.
      failed: (error) => {
        throw error
      },
    },
    hold.over,
  )
  run.tell({
    state: () => (loop.nextLook() === 0 ? working : stateOf(turn)),
    wake: loop.wake,
  })
  const forget = run.store.onChange?.(loop.wake)
  try {
    await loop.ended
  } finally {
    forget?.()
    await Promise.all([...turn.orders.running, ...turn.others.running])
    await saver.settled()
    // A store that cannot save would only hold up the end.
    if (run.isCall && !saver.isStuck()) await keepPauses(turn, isGone)
    run.tell(undefined)
  }
  return isGone
}

/** Says when there is something to deliver, unless a new event comes. */
function stateOf({ orders, others, loading }: Turn): LoopState {
  if (orders.running.size + others.running.size > 0) return working
  if (loading.failures > 0) return { nextLook: loading.until, isIdle: false }
  // Failures of the events of orders delay the others, too.
  const untilOthers = Math.max(untilDue(others), orders.pace.until())
  const nextLook = Math.min(untilDue(orders), untilOthers)
  const worthWaiting = orders.queues.hasFresh() ? shortPause : 0
  return { nextLook, isIdle: nextLook > performance.now() + worthWaiting }
}

/** `performance.now()` from which something may be sent. */
const untilDue = ({ queues, pace }: Share): number =>
  Math.max(queues.nextDue(), pace.until())

function startShare(queues: EventQueues, pace: TargetPace): Share {
  return { queues, pace, running: new Set(), retrying: new Set() }
}

/** Saves for the next call of `runDue` how long failures delay deliveries. */
async function keepPauses(
  { run, hold, outbox, orders }: Turn,
  isGone: boolean,
): Promise<void> {
  const pauses: Pauses = {
    failures: orders.pace.failures(),
    // Also delays events without an order. Their own pace is not saved: they
    // are few, and each has its pause.
    until: isGone ? performance.now() + untilGoneAsked : orders.pace.until(),
    ...outbox.pauses(),
  }
  if (isNone(pauses) && isNone(outbox.saved)) return
  try {
    await savePauses(run, pauses, hold.lease)
  } catch (error) {
    // Without them, the next call sends before the pauses are over. A process
    // that has the lease now saves its own.
    if (!(error instanceof LeaseLostError)) observeStop(run, error)
  }
}

/**
 * Starts all deliveries that may start now. Returns the milliseconds until it
 * must run again.
 */
async function work(turn: Turn): Promise<number> {
  const { run, hold, orders, others } = turn
  const { look } = run.tools
  // Give the lease back: the process that takes it next starts the replay.
  if (await isReplayDue(turn)) hold.lose()
  const loadFurther = async () =>
    !orders.queues.hasFresh(orders.pace.refused()) &&
    !hold.over.aborted &&
    (await loadNext(turn))
  // Retries that are due in each run would otherwise fail, and pause the target,
  // before a new event is sent.
  while (!turn.isStarted) turn.isStarted = !(await loadFurther())
  do {
    startTries(turn, orders)
    startTries(turn, others)
  } while (await loadFurther())
  // Ignores times in the past: such a queue waits for the store or for a
  // running delivery, and both wake this loop when they are done.
  const due = [untilDue(orders), untilDue(others)]
  const pauses = due.map((time) => time - performance.now())
  return Math.min(look, ...pauses.filter((pause) => pause > 0))
}

/** Looks for a requested replay now and then. */
async function isReplayDue(turn: Turn): Promise<boolean> {
  const { run } = turn
  if (performance.now() < turn.replayLook) return false
  turn.replayLook = performance.now() + run.tools.replay
  return isReplayRequested(run).catch(() => false)
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
      // A delivery can last until its timeout. So retries leave at least one
      // place for new events, and new events leave at least one for retries.
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
        // If the events of one order cannot be loaded, only this order waits.
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
