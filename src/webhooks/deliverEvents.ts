import { wait } from '../rpc/wait.js'
import type { TargetRun } from '../targets/types.js'
import { eventFacts } from './eventFacts.js'
import { observeStop } from './observeStop.js'
import { type Outbox, openOutbox } from './openOutbox.js'
import { type ProgressSaver, progressSaver } from './saveProgress.js'
import { type Pace, targetPace } from './targetPace.js'
import { tryEvent } from './tryEvent.js'
import type { LeaseHold } from './underLease.js'

/** What one turn at delivering works with. */
type Turn = {
  run: TargetRun
  hold: LeaseHold
  outbox: Outbox
  saver: ProgressSaver
  pace: Pace
  /** Tries under way. */
  running: Set<Promise<void>>
  /** Wakes who waits for something to do. */
  ring: () => void
  /** The receiver wants no more. */
  leave: () => void
}

/**
 * Delivers events to one target for as long as the lease is held, several
 * orders at a time, and puts on record how far it came.
 *
 * @returns whether the receiver is gone for good.
 */
export async function deliverEvents(
  run: TargetRun,
  hold: LeaseHold,
): Promise<boolean> {
  const outbox = await openOutbox(run, hold.lease)
  const saver = progressSaver(run, hold, outbox.progress)
  let bell = new AbortController()
  let isGone = false
  const ring = () => bell.abort()
  const leave = () => {
    isGone = true
    hold.lose()
  }
  const turn: Turn = {
    ...{ run, hold, outbox, saver, ring, leave },
    pace: targetPace(run.tools.pause),
    running: new Set(),
  }
  const forget = run.store.onChange?.(ring)
  hold.over.addEventListener('abort', ring)
  try {
    while (!hold.over.aborted) {
      const pause = await work(turn)
      await wait(pause, bell.signal)
      bell = new AbortController()
    }
  } finally {
    forget?.()
    await Promise.all(turn.running)
    await saver.settled()
  }
  return isGone
}

/** Starts what can be started; how long there is nothing to do. */
async function work(turn: Turn): Promise<number> {
  const { run, hold, outbox, pace } = turn
  const { look } = run.tools
  const { queues } = outbox
  do startTries(turn)
  while (!queues.hasFresh() && !hold.over.aborted && (await readOn(turn)))
  // What is due and does not begin waits for the store, or for another try.
  const due = Math.max(queues.nextDue(), pace.until()) - performance.now()
  return due > 0 ? Math.min(look, due) : look
}

async function readOn({ run, outbox, saver }: Turn): Promise<boolean> {
  try {
    const isMore = await outbox.readOn()
    for (const event of outbox.takeSkipped()) {
      const attributes = eventFacts(run, event)
      run.observe({ name: 'webhook.skipped', attributes })
      saver.save()
    }
    return isMore
  } catch (error) {
    observeStop(run, error)
    return false
  }
}

function startTries(turn: Turn): void {
  const { run, hold, outbox, saver, pace, running, ring } = turn
  const isAllowed = () =>
    running.size < pace.width() &&
    performance.now() >= pace.until() &&
    hold.lasts(run.tools.timeout) &&
    !hold.over.aborted &&
    !saver.isStuck()
  while (isAllowed()) {
    const taken = outbox.queues.take(performance.now())
    if (!taken) return
    const trying = tryEvent(turn, taken)
      .catch((error: unknown) => {
        // A row that makes no message must not end those of other orders.
        const pause = run.tools.pause(taken.queue.failures + 1)
        outbox.queues.delay(taken.queue, performance.now() + pause)
        observeStop(run, error)
      })
      .finally(() => {
        running.delete(trying)
        ring()
      })
    running.add(trying)
  }
}
