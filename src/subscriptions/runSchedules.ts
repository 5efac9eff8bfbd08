import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { startLoop } from '../core/loop.js'
import { wait } from '../core/wait.js'
import {
  type Aside,
  endingContext,
  endOnTime,
  type OrdersContext,
} from '../orders/engine.js'
import { isInDestinations } from '../store/isInDestinations.js'
import { keepLease } from '../store/keepLease.js'
import type { Destination } from '../store/types.js'
import type { SubscriptionsContext } from './verbs/context.js'
import { reconcileChargesAt } from './verbs/reconcileCharges.js'
import { lookAtSchedule } from './verbs/runSchedule.js'
import {
  openScheduleAside,
  revocationOf,
  scheduleKey,
  wholeLook,
} from './verbs/scheduleAside.js'
import { settleRevoked } from './verbs/settleRevoked.js'

/** Parameters of `run`. */
export type RunSchedulesParameters = {
  /**
   * Ends the work after the current writes. It waits 3 seconds for nodes and 2
   * more for the database, which may still finish a write after that.
   */
  signal: AbortSignal
}

const members: MembersOf<RunSchedulesParameters> = { signal: true }

/** Milliseconds between two searches for charges that the record lacks. */
const reconcileEvery = 600_000

/** Milliseconds between two polling passes, by default. */
const usualPause = 1000

/** Milliseconds of the lease: more than the longest pause between passes. */
const shownFor = 60_000

/** Name of the search for missing charges among failed work put aside. */
const reconciliation = 'charges'

/** Implements `run` of `Subscriptions`. */
export async function runSchedules(
  subscriptions: SubscriptionsContext,
  parameters: RunSchedulesParameters,
): Promise<void> {
  checkMembers(parameters, members)
  const { signal } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  const { context, instance } = subscriptions
  const { stopping } = instance.drive()
  await endOnTime([signal, stopping], async ({ ending, letGo }) => {
    const ends = {
      ending,
      // Passes get time to finish their requests; long searches end at once.
      looks: { ...subscriptions, context: endingContext(context, letGo) },
      searches: { ...subscriptions, context: endingContext(context, ending) },
    }
    await runEach(context, ending, (destination) => runOne(destination, ends))
  })
}

/**
 * Runs work for each destination in parallel, so that one that hangs delays no
 * other. Begins with those that the shop gets later, too.
 */
async function runEach(
  context: OrdersContext,
  ending: AbortSignal,
  run: (destination: Destination) => Promise<void>,
): Promise<void> {
  const running: Promise<void>[] = []
  let begun: readonly Destination[] = Object.freeze([])
  while (!ending.aborted) {
    const { destinations } = context
    for (const one of destinations)
      if (!isInDestinations(one, begun)) running.push(run(one))
    begun = destinations
    if (context.shop.name === undefined) break
    await wait(usualPause, ending)
    await context.shop.refresh().catch(() => undefined)
  }
  await Promise.all(running)
}

/** When the work ends, and the contexts whose requests end with it. */
type Ends = {
  ending: AbortSignal
  looks: SubscriptionsContext
  searches: SubscriptionsContext
}

/** Runs the schedules of one destination until `ending` aborts. */
async function runOne(
  destination: Destination,
  { ending, looks, searches }: Ends,
): Promise<void> {
  const { context, instance } = looks
  const usual = context.policy.pollingInterval ?? usualPause
  const aside = openScheduleAside(context, destination)
  const shown = showAside(looks, destination, aside)
  const going = new Map<string, Promise<void>>()
  const advancing = new Map<string, Promise<void>>()
  let nextReconcile = performance.now()
  /** Starts work in the background, unless it is running or put aside. */
  const begin = (name: string, work: () => Promise<void>) => {
    if (going.has(name) || aside.isWaiting(name)) return
    const ended = work()
      .then(() => aside.clear(name))
      .catch((error: unknown) => {
        if (!ending.aborted) aside.put(name, error)
      })
      .finally(() => going.delete(name))
    going.set(name, ended)
  }
  const look = async (): Promise<number> => {
    await instance.openSealed()
    if (performance.now() >= nextReconcile)
      begin(reconciliation, async () => {
        await reconcileChargesAt(searches, destination, { isContinued: true })
        nextReconcile = performance.now() + reconcileEvery
      })
    const { revoked } = await lookAtSchedule(looks, destination, {
      aside,
      going: advancing,
    })
    for (const found of revoked)
      begin(revocationOf(found.row), () => settleRevoked(searches, found))
    aside.clear(wholeLook)
    return usual
  }
  const failed = (error: unknown): number =>
    ending.aborted ? usual : Math.max(usual, aside.put(wholeLook, error))
  await startLoop({ look, failed, tell: shown.save }, ending).ended
  await Promise.all([...going.values(), ...advancing.values()])
  await shown.release()
}

/**
 * Lets `health` show failed work that waits for a retry. Takes a lease only
 * while there is such work, so that an idle pass writes nothing.
 */
function showAside(
  { context: { store, owner } }: SubscriptionsContext,
  destination: Destination,
  aside: Aside,
): { save(): Promise<void>; release(): Promise<void> } {
  const key = scheduleKey(destination)
  const kept = keepLease(store, { key, owner, milliseconds: shownFor })
  const save = async () => {
    if (aside.size() === 0) return kept.release()
    await aside.save(await kept.take())
  }
  return { save, release: kept.release }
}
