import type { Address } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseLimit, parsePosition } from '../../core/parsePage.js'
import { loadOrders, showOrder } from '../../orders/engine.js'
import type { Order } from '../../orders/index.js'
import {
  type Subscription,
  showSubscription,
} from '../schedule/showSubscription.js'
import {
  idMembers,
  type SubscriptionIdParameters,
} from './cancelSubscription.js'
import {
  loadSubscription,
  loadSubscriptions,
  type SubscriptionsContext,
} from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'

/** Which subscriptions `list` returns. */
export type ListSubscriptionsParameters = {
  /** Returns only subscriptions of this smart wallet. */
  payer?: Address | undefined
  /** The `cursor` of the previous page. Absent for the first page. */
  before?: bigint | undefined
  /** Most subscriptions or charges in a page, up to 200. @default 50 */
  limit?: number | undefined
}

/** A page of subscriptions. */
export type ListedSubscriptions = {
  subscriptions: readonly Subscription[]
  /** Pass it as `before` for the next page; absent on the last page. */
  cursor: bigint | undefined
}

/** Which charges `charges` returns. */
export type ListChargesParameters = SubscriptionIdParameters &
  Pick<ListSubscriptionsParameters, 'before' | 'limit'>

const chargeMembers: MembersOf<ListChargesParameters> = {
  ...idMembers,
  before: true,
  limit: true,
}

/** A page of charges, which are orders. */
export type ListedCharges = {
  charges: readonly Order[]
  /** Pass it as `before` for the next page; absent on the last page. */
  cursor: bigint | undefined
}

const limits = { usual: 50, most: 200 }

/** Implements `get` of `Subscriptions`. */
export async function getSubscription(
  { context }: SubscriptionsContext,
  parameters: SubscriptionIdParameters,
): Promise<Subscription> {
  checkMembers(parameters, idMembers)
  const id = parseSubscriptionId(parameters.subscriptionId)
  const found = await context.store.read((tables) =>
    loadSubscription(tables, context, id),
  )
  return showSubscription(found)
}

/** Implements `list` of `Subscriptions`: the newest first. */
export async function listSubscriptions(
  { context }: SubscriptionsContext,
  parameters: ListSubscriptionsParameters,
): Promise<ListedSubscriptions> {
  checkMembers(parameters, ['payer', 'before', 'limit'])
  const limit = parseLimit(parameters.limit, limits)
  const before = parsePosition(parameters.before, 'before')
  const payer =
    parameters.payer === undefined
      ? undefined
      : parseCheckedAddress(parameters.payer, 'payer')
  const { destinations: listed } = context
  return context.store.read(async (tables) => {
    const query = { listed, payer, before, limit }
    const rows = await tables.subscriptions.find(query)
    const ids = rows.map(({ id }) => id)
    const found = await loadSubscriptions(tables, context, ids)
    return {
      subscriptions: found.map(showSubscription),
      cursor: rows.length < limit ? undefined : rows.at(-1)?.position,
    }
  })
}

/** Implements `charges` of `Subscriptions`: the newest first. */
export async function listCharges(
  { context }: SubscriptionsContext,
  parameters: ListChargesParameters,
): Promise<ListedCharges> {
  checkMembers(parameters, chargeMembers)
  const id = parseSubscriptionId(parameters.subscriptionId)
  const limit = parseLimit(parameters.limit, limits)
  const before = parsePosition(parameters.before, 'before')
  return context.store.read(async (tables) => {
    await loadSubscription(tables, context, id)
    const query = { chargesOf: id, before, limit }
    const found = [...(await loadOrders(tables, query)).values()]
    return {
      charges: found.map(showOrder),
      cursor: found.length < limit ? undefined : found.at(-1)?.order.position,
    }
  })
}
