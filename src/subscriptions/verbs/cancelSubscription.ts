import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type { OrdersContext } from '../../orders/engine.js'
import {
  apply,
  applyTaken,
  joinChanges,
  rulesOf,
  writeChanges,
} from '../../orders/engine.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { decodePermission } from '../permission/permissionJson.js'
import {
  type StoredSubscription,
  type Subscription,
  showSubscription,
  stateOf,
} from '../schedule/showSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'

/** Parameters of `cancel`, `get` and `restart`. */
export type SubscriptionIdParameters = { subscriptionId: string }

export const idMembers: MembersOf<SubscriptionIdParameters> = {
  subscriptionId: true,
}

/**
 * `ok` if the subscription is canceled, or will be once the revocation is on
 * chain.
 */
export type CancelSubscriptionVerdict =
  | { ok: true; subscription: Subscription }
  /**
   * The last period of the subscription has ended, so there is nothing to
   * cancel.
   */
  | { ok: false; reason: 'notOpen'; subscription: Subscription }

/**
 * Implements `cancel` of `Subscriptions`: stops the schedule, and requests that
 * a worker revoke the permission.
 */
export function cancelSubscription(
  { context }: SubscriptionsContext,
  parameters: SubscriptionIdParameters,
): Promise<CancelSubscriptionVerdict> {
  checkMembers(parameters, idMembers)
  const id = parseSubscriptionId(parameters.subscriptionId)
  return writeAgain(context, async (tables) => {
    const found = await loadSubscription(tables, context, id)
    const { row, held } = found
    const state = stateOf(row, held.order)
    if (state === 'ended')
      return {
        ok: false,
        reason: 'notOpen',
        subscription: showSubscription(found),
      }
    if (state === 'canceled' || state === 'canceling')
      return { ok: true, subscription: showSubscription(found) }
    const order = await writeCancel(context, tables, found)
    // Even if the revocation is never sent, the permission ends by itself. The
    // schedule then looks at the subscription again, to close it.
    const { end } = decodePermission(row.permission).message
    const due = state === 'drafted' ? undefined : end
    const stopped = { ...row, due, chargeId: undefined }
    await tables.subscriptions.update([stopped])
    const subscription = showSubscription({
      row: stopped,
      held: { ...held, order },
    })
    return { ok: true, subscription }
  })
}

async function writeCancel(
  context: OrdersContext,
  tables: StoreWriter,
  { row, held }: StoredSubscription,
): Promise<OrderRecord> {
  const rules = rulesOf(context)
  const revoked = applyTaken(held, { kind: 'revoke' }, rules)
  // A charge that is in flight keeps the request: only its approval may have
  // been sent, and a worker then does not send the charge itself afterwards.
  const voided = (await findUndecided(tables, row)).map((charge) =>
    apply({ ...held, order: charge }, { kind: 'void' }, rules),
  )
  const changes = joinChanges([revoked, ...voided])
  const [order = held.order] = await writeChanges(tables, changes, rules.at)
  return order
}

const pageSize = 500

/** Finds charges that are not sent yet, or are sent but not settled. */
async function findUndecided(
  tables: StoreWriter,
  { id }: StoredSubscription['row'],
): Promise<OrderRecord[]> {
  const undecided: OrderRecord[] = []
  for (let before: bigint | undefined; ; ) {
    const query = { chargesOf: id, before, limit: pageSize }
    const page = await tables.orders.find(query)
    undecided.push(
      ...page.filter(
        ({ state }) => state === 'stored' || state === 'capturing',
      ),
    )
    before = page.at(-1)?.position
    if (page.length < pageSize) return undecided
  }
}
