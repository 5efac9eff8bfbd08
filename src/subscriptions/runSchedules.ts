import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { wait } from '../core/wait.js'
import { endingContext } from '../orders/evidence/endingContext.js'
import { observeFailure } from '../orders/model/observeFailure.js'
import type { SubscriptionsDesk } from './verbs/desk.js'
import { reconcileCharges } from './verbs/reconcileCharges.js'
import { lookAtSchedules } from './verbs/runSchedule.js'
import { settleRevoked } from './verbs/settleRevoked.js'

/** What `run` takes. */
export type RunSchedulesParameters = {
  /** Ends the work after the current look. */
  signal: AbortSignal
}

const members: MembersOf<RunSchedulesParameters> = { signal: true }

/** Milliseconds between two searches for charges that the record lacks. */
const reconcileEvery = 600_000

/** Milliseconds between two looks, unless the policy of the orders says it. */
const usualPause = 1000

/** `run` of `Subscriptions`: looks at all schedules until the signal aborts. */
export async function runSchedules(
  desk: SubscriptionsDesk,
  parameters: RunSchedulesParameters,
): Promise<void> {
  checkMembers(parameters, members)
  const { signal } = parameters
  if (typeof Object(signal).addEventListener !== 'function')
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
  const { context, instance } = desk
  const pause = context.policy.pollingInterval ?? usualPause
  const { stopping } = instance.drive()
  const ending = new AbortController()
  const attempt = (work: () => Promise<unknown>) =>
    instance
      .openSealed()
      .then(work)
      .catch((error: unknown) => {
        if (ending.signal.aborted) return
        observeFailure(context, 'schedule.failed', { about: {}, error })
      })
  // They run beside the looks: reading a long history delays no charge.
  const reader = { ...desk, context: endingContext(context, ending.signal) }
  let reconciling: Promise<void> | undefined
  let nextReconcile = performance.now()
  const reconcile = async () => {
    await attempt(() => reconcileCharges(reader, {}, true))
    nextReconcile = performance.now() + reconcileEvery
    reconciling = undefined
  }
  const searches = new Map<string, Promise<void>>()
  const look = async () => {
    const { revoked } = await lookAtSchedules(desk)
    for (const found of revoked) {
      const { id } = found.row
      if (searches.has(id)) continue
      const search = settleRevoked(reader, found)
      searches.set(
        id,
        search.finally(() => searches.delete(id)),
      )
    }
  }
  while (!signal.aborted && !stopping.aborted) {
    if (!reconciling && performance.now() >= nextReconcile)
      reconciling = reconcile()
    await attempt(look)
    await wait(pause, signal)
  }
  // Their requests end now; a write that has begun is completed.
  ending.abort()
  await Promise.all([reconciling, ...searches.values()])
}
