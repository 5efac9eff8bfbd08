import { checkClock } from '../../core/clock.js'
import { clientOf } from '../../orders/evidence/clientOf.js'
import { getHeads } from '../../orders/evidence/getHeads.js'
import { observeFailure } from '../../orders/model/observeFailure.js'
import type { Destination } from '../../store/types.js'
import type { SubscriptionsDesk } from './desk.js'
import { type ScheduledLook, scheduleDue } from './scheduleDue.js'
import { settleRevoked } from './settleRevoked.js'

/** What one look at all schedules did. */
export type ScheduleReport = {
  /** Charges that became due, tries included. */
  charged: number
}

/** `schedule` of `Subscriptions`: runs all due schedules once. */
export async function runSchedule(
  desk: SubscriptionsDesk,
): Promise<ScheduleReport> {
  const { charged, revoked } = await lookAtSchedules(desk)
  await Promise.all(revoked.map((found) => settleRevoked(desk, found)))
  return { charged }
}

/** What a look at the schedules of all destinations did. */
export type SchedulesLook = Pick<ScheduledLook, 'charged' | 'revoked'>

/**
 * Runs all due schedules of this instance once. If a destination or a
 * subscription fails, `observe` reports it and the others go on.
 *
 * The caller settles the revocations: a search through history can take long.
 */
export async function lookAtSchedules(
  desk: SubscriptionsDesk,
): Promise<SchedulesLook> {
  const { context } = desk
  const looks = await Promise.all(
    context.destinations.map((destination) =>
      lookAt(desk, destination).catch((error: unknown) => {
        observeFailure(context, 'schedule.failed', {
          about: destination,
          error,
        })
        return { charged: 0, revoked: [] }
      }),
    ),
  )
  return {
    charged: looks.reduce((sum, { charged }) => sum + charged, 0),
    revoked: looks.flatMap(({ revoked }) => revoked),
  }
}

async function lookAt(
  desk: SubscriptionsDesk,
  destination: Destination,
): Promise<SchedulesLook> {
  const { context } = desk
  const { chainId } = destination
  const client = clientOf(context, destination)
  const { latest, finalized } = await getHeads(client, context.policy)
  const { timestamp } = latest
  checkClock({ timestamp, chainId }, context.now() / 1000n)
  const { charged, failed, revoked } = await scheduleDue(desk, destination, {
    now: timestamp,
    finalized,
  })
  for (const { id, error } of failed)
    observeFailure(context, 'schedule.failed', {
      about: { ...destination, what: id },
      error,
    })
  return { charged, revoked }
}
