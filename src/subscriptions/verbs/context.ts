import {
  type Instance,
  loadOrders,
  type OrdersContext,
} from '../../orders/engine.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { StoreReader, StoreWriter } from '../../store/types.js'
import type { SpendPermissions } from '../charges/spendPermissions.js'
import type { StoredSubscription } from '../schedule/showSubscription.js'
import type { SettledSchedule } from '../schedule/types.js'
import { SubscriptionNotFoundError } from './errors.js'

export type SubscriptionsContext = {
  context: OrdersContext
  instance: Instance
  kind: SpendPermissions
  schedule: SettledSchedule
  /** Wakes each loop of schedules that runs in this instance. */
  loops: Set<() => void>
}

type Tables = Pick<
  StoreReader | StoreWriter,
  'orders' | 'attempts' | 'proofs' | 'subscriptions'
>

/** Loads subscriptions of this instance by id, in the order of the ids. */
export async function loadSubscriptions(
  tables: Tables,
  { destinations }: Pick<OrdersContext, 'destinations'>,
  ids: readonly string[],
): Promise<StoredSubscription[]> {
  if (ids.length === 0) return []
  const rows = await tables.subscriptions.find({ ids })
  const held = await loadOrders(tables, { ids })
  return rows.flatMap((row) => {
    const stored = held.get(row.id)
    const isOwn = isInDestinations(row, destinations)
    return stored && isOwn ? [{ row, held: stored }] : []
  })
}

/**
 * Loads a subscription of this instance.
 *
 * @throws {@link SubscriptionNotFoundError} if this instance has none with this
 * id.
 */
export async function loadSubscription(
  tables: Tables,
  context: Pick<OrdersContext, 'destinations'>,
  subscriptionId: string,
): Promise<StoredSubscription> {
  const [found] = await loadSubscriptions(tables, context, [subscriptionId])
  if (!found) throw new SubscriptionNotFoundError({ subscriptionId })
  return found
}
