import type { Address } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { endOfTime } from '../core/clock.js'
import { InvalidFieldError } from '../core/errors.js'
import { startLoop } from '../core/loop.js'
import { onAbort } from '../core/onAbort.js'
import {
  idle,
  type LoopState,
  type TrackedLoops,
  trackLoops,
  working,
} from '../core/untilIdle.js'
import {
  type ClientGroup,
  endingContext,
  endOnTime,
  groupByClient,
  hearChanges,
  openWatchAsides,
  quietIntervalOf,
  type WatchAsides,
  watchKey,
} from '../orders/engine.js'
import { keepLease } from '../store/keepLease.js'
import type { SubscriptionsContext } from './verbs/context.js'
import { continueCharges } from './verbs/reconcileCharges.js'
import { lookAtSchedule } from './verbs/runSchedule.js'
import {
  asideAt,
  asideOf,
  type NamedAside,
  revocationOf,
} from './verbs/scheduleAside.js'
import { openScheduleClock } from './verbs/scheduleClock.js'
import { settleRevoked } from './verbs/settleRevoked.js'

/** Parameters of `run`. */
export type RunSchedulesParameters = {
  /**
   * Ends the work after the current writes. On abort, waits at most 3 seconds
   * for nodes and then 2 for the database, which may still finish a write after
   * that.
   */
  signal: AbortSignal
}

/**
 * Milliseconds between two searches of the chain for charges that the database
 * lacks.
 */
const reconcileEvery = 600_000

/** Milliseconds between two polling passes, by default. */
const usualPause = 1000

/**
 * Milliseconds of the lease that makes `health` show failed work of this
 * process.
 */
const shownFor = 60_000

/** Implements `run` of `Subscriptions`. */
export async function runSchedules(
  subscriptions: SubscriptionsContext,
  parameters: RunSchedulesParameters,
): Promise<void> {
  checkMembers(parameters, ['signal'])
  const { signal } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  const { context, instance } = subscriptions
  const { stopping } = instance.drive()
  const loops = trackLoops(signal)
  const runUntil: Parameters<typeof endOnTime>[1] = async (given) => {
    const { ending, letGo } = given
    const ends = {
      ending,
      loops,
      // When the work ends, a pass over the schedules gets time to finish its
      // requests. Long searches of the chain end at once.
      looks: { ...subscriptions, context: endingContext(context, letGo) },
      searches: { ...subscriptions, context: endingContext(context, ending) },
    }
    const groups = groupByClient(context)
    const chainIds = [...new Set(groups.map(({ chainId }) => chainId))]
    const run = (chainId: number) => {
      const own = groups.filter((group) => group.chainId === chainId)
      return runChain(chainId, own, ends)
    }
    const running = chainIds.map(run)
    loops.complete()
    await Promise.all(running)
  }
  await endOnTime([signal, stopping], runUntil, context.store.lost)
}

/** When the work ends, and the contexts whose node requests end with it. */
type Ends = {
  ending: AbortSignal
  loops: TrackedLoops
  looks: SubscriptionsContext
  searches: SubscriptionsContext
}

/** Runs the schedules of a chain: one loop for each client. */
async function runChain(
  chainId: number,
  groups: readonly ClientGroup[],
  ends: Ends,
): Promise<void> {
  const shown = showAsides(ends.looks, chainId)
  await Promise.all(groups.map((group) => runGroup(group, shown, ends)))
  await shown.release()
}

const never = Number.POSITIVE_INFINITY

/** Runs the schedules of one client's destinations until `ending` aborts. */
async function runGroup(
  group: ClientGroup,
  { asides, save, lease }: ShownAsides,
  { ending, loops, looks, searches }: Ends,
): Promise<void> {
  const { context, instance } = looks
  const { policy, shop, store } = context
  const interval = policy.pollingInterval ?? usualPause
  const quiet = quietIntervalOf(policy, { chainId: group.chainId, interval })
  const clock = openScheduleClock(context, group.chainId)
  const whole = asideOf(asides, group, 'schedule')
  const background = openBackground(ending)
  const reading = new Set<Address>()
  const advancing = new Map<string, Promise<void>>()
  let nextReconcile = performance.now()
  let nextDue: bigint | undefined
  let isFailed = false
  const findNextDue = async () => {
    const query = { due: group.destinations(), until: endOfTime, limit: 1 }
    const [next] = await store.read((tables) =>
      tables.subscriptions.find(query),
    )
    nextDue = next?.due
  }
  /** Milliseconds until the next subscription is due. */
  const restOf = (): number => {
    const time = clock.time()
    if (nextDue === undefined) return quiet
    if (time === undefined || nextDue <= time) return 0
    return Math.min(quiet, 1000 * Number(nextDue - time))
  }
  const look = async (): Promise<number> => {
    await instance.openSealed()
    if (performance.now() >= nextReconcile)
      background.begin(asideOf(asides, group, 'charges'), async () => {
        await continueCharges(searches, group, reading)
        nextReconcile = performance.now() + reconcileEvery
      })
    await findNextDue()
    const isDue = nextDue !== undefined && (clock.isStale() || restOf() === 0)
    // The first pass asks the node even if nothing is due, to find out whether
    // the node answers.
    if (isDue || clock.time() === undefined) {
      const memory = { asides, going: advancing, clock }
      const { revoked } = await lookAtSchedule(looks, group, memory)
      for (const found of revoked)
        background.begin(
          asideAt(asides, found.row, revocationOf(found.row)),
          () => settleRevoked(searches, found),
        )
      await findNextDue()
    }
    whole.clear()
    isFailed = false
    return Math.max(interval, restOf())
  }
  const failed = (error: unknown): number => {
    isFailed = true
    return ending.aborted ? interval : Math.max(interval, whole.put(error))
  }
  /**
   * Called when the database changes. A change leads to a new pass only if it
   * moves the time at which the next subscription is due.
   */
  const woken = async (): Promise<number> => {
    if (isFailed) return never
    const known = nextDue
    await shop.refresh()
    await findNextDue()
    return nextDue === known ? never : restOf()
  }
  const loop = startLoop({ look, failed, tell: save, woken, lease }, ending)
  const state = (): LoopState => {
    const nextLook = loop.nextLook()
    const isWorking = advancing.size > 0 || background.going().size > 0
    if (nextLook === 0 || isWorking) return working
    if (isFailed) return { nextLook, isIdle: false }
    if (nextDue === undefined) return idle
    const time = clock.time() ?? nextDue
    // The last look has charged what it could.
    if (nextDue <= time)
      return { nextLook: performance.now() + quiet, isIdle: !asides.isTrying() }
    const rest = 1000 * Number(nextDue - time)
    return { nextLook: performance.now() + rest, isIdle: true }
  }
  loops.add({ state, wake: loop.wake })
  const forget = hearChanges(store, { listener: loop.wake })
  // Unsubscribes when the work must end, not when the loop has ended: if a pass
  // hangs, the loop never ends.
  if (ending.aborted) forget()
  else onAbort(ending, forget)
  looks.loops.add(loop.wake)
  await loop.ended
  looks.loops.delete(loop.wake)
  await Promise.all([...background.going().values(), ...advancing.values()])
}

type Background = {
  /** Starts work, unless it is running or waits for its next try. */
  begin(aside: NamedAside, work: () => Promise<unknown>): void
  going(): ReadonlyMap<string, Promise<void>>
}

/** Runs work beside the loop. Its failures count until `ending` aborts. */
function openBackground(ending: AbortSignal): Background {
  const going = new Map<string, Promise<void>>()
  const begin: Background['begin'] = (aside, work) => {
    const { what } = aside
    if (going.has(what) || aside.isWaiting()) return
    const ended = work()
      .then(aside.clear)
      .catch((error: unknown) => {
        if (!ending.aborted) aside.put(error)
      })
      .finally(() => going.delete(what))
    going.set(what, ended)
  }
  return { begin, going: () => going }
}

type ShownAsides = {
  asides: WatchAsides
  save(): Promise<void>
  /** Keeps the lease while the loop waits for the next due subscription. */
  lease: { every: number; prolong(): Promise<void> }
  release(): Promise<void>
}

/**
 * Lets `health` show failed work that waits for a retry. Takes a lease only
 * while there is such work, so that an idle pass writes nothing.
 */
function showAsides(
  { context }: SubscriptionsContext,
  chainId: number,
): ShownAsides {
  const { store, owner } = context
  const key = watchKey(context, { chainId }, 'schedule')
  const kept = keepLease(store, { key, owner, milliseconds: shownFor })
  const asides = openWatchAsides(context, chainId, 'schedule')
  const save = async () => {
    if (asides.size() === 0) return kept.release()
    await asides.save(await kept.take())
  }
  const lease = { every: shownFor / 3, prolong: kept.prolong }
  return { asides, save, lease, release: kept.release }
}
