import { checkChain } from '../../chain/state/checkChain.js'
import { getHeads } from '../../chain/state/getHeads.js'
import { checkChainClock, clientOf } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'
import type { SubscriptionsContext } from './context.js'
import { openScheduleAside, revocationOf, wholeLook } from './scheduleAside.js'
import {
  type ScheduledLook,
  type ScheduleMemory,
  scheduleDue,
} from './scheduleDue.js'
import { settleRevoked } from './settleRevoked.js'

/** What one run of all due schedules did. */
export type ChargeDueReport = {
  /** Charges that became due, retries included. */
  charged: number
}

/**
 * `chargeDue` of `Subscriptions`: runs all due schedules once. If a destination
 * or a subscription fails, `observe` reports it and the others go on.
 */
export async function runSchedule(
  subscriptions: SubscriptionsContext,
): Promise<ChargeDueReport> {
  const { context } = subscriptions
  const counts = await Promise.all(
    context.destinations.map((destination) =>
      runOnce(subscriptions, destination),
    ),
  )
  return { charged: counts.reduce((sum, count) => sum + count, 0) }
}

/** @returns the number of charges that became due. */
async function runOnce(
  subscriptions: SubscriptionsContext,
  destination: Destination,
): Promise<number> {
  // A new list, because the caller wants every due subscription tried now.
  const aside = openScheduleAside(subscriptions.context, destination)
  const going = new Map<string, Promise<void>>()
  try {
    const look = await lookAtSchedule(subscriptions, destination, {
      aside,
      going,
    })
    await Promise.all(going.values())
    await Promise.all(
      look.revoked.map((found) =>
        settleRevoked(subscriptions, found).catch((error: unknown) => {
          aside.put(revocationOf(found.row), error)
        }),
      ),
    )
    return look.charged
  } catch (error) {
    aside.put(wholeLook, error)
    return 0
  }
}

/**
 * Makes one polling pass over the due schedules of a destination. Puts aside
 * subscriptions that fail, and skips those that wait for their retry.
 *
 * The caller searches for the revocations, because that can take long.
 */
export async function lookAtSchedule(
  subscriptions: SubscriptionsContext,
  destination: Destination,
  memory: ScheduleMemory,
): Promise<ScheduledLook> {
  const { context } = subscriptions
  const { chainId } = destination
  const client = clientOf(context, destination)
  const { latest, finalized, confirm } = await getHeads(client, context.policy)
  const { timestamp } = latest
  checkChainClock(context, { timestamp, chainId })
  return scheduleDue(subscriptions, destination, {
    now: timestamp,
    finalized,
    // Heads of a wrong chain would end subscriptions and skip periods.
    checkHeads: async () => {
      await Promise.all([checkChain(client, chainId), confirm()])
    },
    ...memory,
  })
}
