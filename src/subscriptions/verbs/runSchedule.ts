import { checkClock } from '../../core/clock.js'
import { clientOf } from '../../orders/evidence/clientOf.js'
import { getHeads } from '../../orders/evidence/getHeads.js'
import { observeFailure } from '../../orders/model/observeFailure.js'
import type { Destination } from '../../store/types.js'
import type { SubscriptionsDesk } from './desk.js'
import { scheduleDue } from './scheduleDue.js'

/** What one look at all schedules did. */
export type ScheduleReport = {
  /** Charges that became due, tries included. */
  charged: number
}

/**
 * Runs all due schedules of this instance once. If a destination or a
 * subscription fails, `observe` reports it and the others go on.
 */
export async function runSchedule(
  desk: SubscriptionsDesk,
): Promise<ScheduleReport> {
  const { context } = desk
  const looks = await Promise.all(
    context.destinations.map((destination) =>
      lookAt(desk, destination).catch((error: unknown) => {
        observeFailure(context, 'schedule.failed', {
          about: destination,
          error,
        })
        return 0
      }),
    ),
  )
  return { charged: looks.reduce((sum, charged) => sum + charged, 0) }
}

async function lookAt(
  desk: SubscriptionsDesk,
  destination: Destination,
): Promise<number> {
  const { context } = desk
  const { chainId } = destination
  const client = clientOf(context, destination)
  const { latest, finalized } = await getHeads(client, context.policy)
  const { timestamp } = latest
  checkClock({ timestamp, chainId }, context.now() / 1000n)
  const { charged, failed } = await scheduleDue(desk, destination, {
    now: timestamp,
    finalized,
  })
  for (const { id, error } of failed)
    observeFailure(context, 'schedule.failed', {
      about: { ...destination, what: id },
      error,
    })
  return charged
}
