import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import {
  moveOrder,
  noChanges,
  withEvent,
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
    const order = await writeCancel(context.now(), tables, found)
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
  at: bigint,
  tables: StoreWriter,
  { row, held: { order } }: StoredSubscription,
): Promise<OrderRecord> {
  const changed =
    order.state === 'drafted'
      ? moveOrder(order, 'void', 'voided', { type: 'voided', at, data: {} })
      : withEvent(
          order,
          { type: 'cancellationAccepted', at, data: { relayed: true } },
          { requested: 'cancel', sendDue: 0n, reason: undefined },
        )
  const charges = await findUndecided(tables, row)
  const voided = charges
    .filter(({ state }) => state === 'stored')
    .map((charge) =>
      moveOrder(
        charge,
        'void',
        'voided',
        { type: 'voided', at, data: {} },
        { requested: undefined, sendDue: undefined },
      ),
    )
  // For these charges only the approval may have been sent. The stored
  // cancellation request keeps a worker from sending the charge itself
  // afterwards.
  const sent = charges
    .filter(({ state }) => state === 'capturing')
    .map((charge): OrderRecord => ({ ...charge, requested: 'void' }))
  await writeChanges(tables, {
    ...noChanges(),
    orders: [changed.order, ...voided.map((one) => one.order), ...sent],
    events: [changed.event, ...voided.map(({ event }) => event)],
  })
  return changed.order
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
