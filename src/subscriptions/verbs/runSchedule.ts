import { checkChain } from '../../chain/state/checkChain.js'
import { getHeads } from '../../chain/state/getHeads.js'
import {
  type ClientGroup,
  checkChainClock,
  clientOf,
  groupByClient,
  openWatchAsides,
} from '../../orders/engine.js'
import type { SubscriptionsContext } from './context.js'
import { asideAt, asideOf, revocationOf } from './scheduleAside.js'
import { openScheduleClock, type ScheduleClock } from './scheduleClock.js'
import {
  type ScheduledLook,
  type ScheduleMemory,
  scheduleDue,
} from './scheduleDue.js'
import { settleRevoked } from './settleRevoked.js'

/** What one run of all due schedules did. */
export type ChargeDueReport = {
  /** Number of charges that were requested, retries included. */
  charged: number
}

/**
 * Implements `chargeDue` of `Subscriptions`: runs all due schedules once. If a
 * node or a subscription fails, `observe` gets the failure and the others
 * continue.
 */
export async function runSchedule(
  subscriptions: SubscriptionsContext,
): Promise<ChargeDueReport> {
  const { context } = subscriptions
  const counts = await Promise.all(
    groupByClient(context).map((group) => runOnce(subscriptions, group)),
  )
  return { charged: counts.reduce((sum, count) => sum + count, 0) }
}

/** @returns the number of charges that were requested. */
async function runOnce(
  subscriptions: SubscriptionsContext,
  group: ClientGroup,
): Promise<number> {
  const { context } = subscriptions
  const { chainId } = group
  // Starts with empty lists of failed and running work: the caller wants every
  // due subscription tried now, also those that failed a moment ago.
  const asides = openWatchAsides(context, chainId, 'schedule')
  const going = new Map<string, Promise<void>>()
  const clock = openScheduleClock(context, chainId)
  try {
    const memory = { asides, going, clock }
    const look = await lookAtSchedule(subscriptions, group, memory)
    await Promise.all(going.values())
    await Promise.all(
      look.revoked.map((found) =>
        settleRevoked(subscriptions, found).catch((error: unknown) => {
          asideAt(asides, found.row, revocationOf(found.row)).put(error)
        }),
      ),
    )
    return look.charged
  } catch (error) {
    asideOf(asides, group, 'schedule').put(error)
    return 0
  }
}

/**
 * Runs the due schedules of a client's destinations once. Skips subscriptions
 * that failed and wait for their retry. Returns subscriptions that may be
 * revoked: the caller searches the chain for the revocation, because that can
 * take long.
 */
export async function lookAtSchedule(
  subscriptions: SubscriptionsContext,
  group: ClientGroup,
  { clock, ...memory }: ScheduleMemory & { clock: ScheduleClock },
): Promise<ScheduledLook> {
  const { context } = subscriptions
  const { chainId, tokens } = group
  const client = clientOf(context, { chainId, token: tokens[0] })
  const { latest, finalized, confirm } = await getHeads(client, context.policy)
  const { timestamp } = latest
  checkChainClock(context, { timestamp, chainId })
  clock.set(timestamp)
  return scheduleDue(subscriptions, group, {
    now: timestamp,
    finalized,
    // If the node were on the wrong chain, its block times would end
    // subscriptions and skip periods.
    checkHeads: async () => {
      await Promise.all([checkChain(client, chainId), confirm()])
    },
    ...memory,
  })
}
