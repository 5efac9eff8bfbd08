import { checkMembers } from '../../core/checkMembers.js'
import { writeCaptureRequests } from '../../orders/engine.js'
import { writeAgain } from '../../store/writeAgain.js'
import { findPeriod } from '../permission/periodAt.js'
import { decodePermission } from '../permission/permissionJson.js'
import { chargeIdOf, chargeOrderId } from '../schedule/chargeIds.js'
import {
  type Subscription,
  showSubscription,
  stateOf,
} from '../schedule/showSubscription.js'
import {
  idMembers,
  type SubscriptionIdParameters,
} from './cancelSubscription.js'
import { getChainTime } from './chargeSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'

/** The restarted subscription, or why it was not restarted. */
export type RestartSubscriptionVerdict =
  | { ok: true; subscription: Subscription }
  /** Only a subscription in the state `unpaid` can be restarted. */
  | { ok: false; reason: 'notOpen'; subscription: Subscription }

/** Implements `restart` of `Subscriptions`. */
export async function restartSubscription(
  subscriptions: SubscriptionsContext,
  parameters: SubscriptionIdParameters,
): Promise<RestartSubscriptionVerdict> {
  checkMembers(parameters, idMembers)
  const { context } = subscriptions
  const id = parseSubscriptionId(parameters.subscriptionId)
  const { row: known } = await context.store.read((tables) =>
    loadSubscription(tables, context, id),
  )
  const now = await getChainTime(subscriptions, known)
  const { message } = decodePermission(known.permission)
  const current = findPeriod(message, now)?.number
  const verdict = await writeAgain(
    context,
    async (tables): Promise<RestartSubscriptionVerdict> => {
      const { row, held } = await loadSubscription(tables, context, id)
      if (stateOf(row, held.order) !== 'unpaid')
        return {
          ok: false,
          reason: 'notOpen',
          subscription: showSubscription({ row, held }),
        }
      const chargeId =
        row.period === current ? chargeIdOf(row.period) : undefined
      const restarted = {
        ...row,
        state: 'pastDue' as const,
        chargeId,
        tries: 0,
        due: 0n,
      }
      await tables.subscriptions.update([restarted])
      // Requests the charge now. The schedule's usual pause after a failure could
      // last longer than the period.
      if (chargeId !== undefined)
        await writeCaptureRequests(context, tables, [
          chargeOrderId(id, chargeId),
        ])
      return {
        ok: true,
        subscription: showSubscription({ row: restarted, held }),
      }
    },
  )
  // No event tells the loops that the subscription is due.
  for (const wake of subscriptions.loops) wake()
  return verdict
}
