import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { wait } from '../core/wait.js'
import { observeFailure } from '../orders/model/observeFailure.js'
import type { SubscriptionsDesk } from './verbs/desk.js'
import { reconcileCharges } from './verbs/reconcileCharges.js'
import { runSchedule } from './verbs/runSchedule.js'

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
  const attempt = (work: () => Promise<unknown>) =>
    instance
      .openSealed()
      .then(work)
      .catch((error: unknown) =>
        observeFailure(context, 'schedule.failed', { about: {}, error }),
      )
  let nextReconcile = performance.now()
  while (!signal.aborted && !stopping.aborted) {
    if (performance.now() >= nextReconcile) {
      await attempt(() => reconcileCharges(desk, {}))
      nextReconcile = performance.now() + reconcileEvery
    }
    await attempt(() => runSchedule(desk))
    await wait(pause, signal)
  }
}
