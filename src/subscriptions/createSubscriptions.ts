import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { contextOf, type OrdersContext, watchVerb } from '../orders/engine.js'
import type { Orders } from '../orders/index.js'
import { OrdersSetupError } from '../orders/index.js'
import {
  type SpendPermissions,
  spendPermissionName,
} from './charges/spendPermissions.js'
import { runSchedules } from './runSchedules.js'
import type { Subscriptions } from './Subscriptions.js'
import type { SchedulePolicy, SettledSchedule } from './schedule/types.js'
import { acceptSubscription } from './verbs/acceptSubscription.js'
import {
  getSubscriptionForBuyer,
  issueBuyerToken,
} from './verbs/buyerTokens.js'
import { cancelSubscription } from './verbs/cancelSubscription.js'
import { chargeSubscription } from './verbs/chargeSubscription.js'
import type { SubscriptionsContext } from './verbs/context.js'
import { draftSubscription } from './verbs/draftSubscription.js'
import {
  getSubscription,
  listCharges,
  listSubscriptions,
} from './verbs/listSubscriptions.js'
import { reconcileCharges } from './verbs/reconcileCharges.js'
import { restartSubscription } from './verbs/restartSubscription.js'
import { runSchedule } from './verbs/runSchedule.js'

/** Parameters of {@link createSubscriptions}. */
export type CreateSubscriptionsParameters = {
  /** Orders from `createOrders` with `spendPermissions()` in its `kinds`. */
  orders: Orders
  policy?: SchedulePolicy | undefined
}

/**
 * Charges smart wallets each period: draft a permission, accept its signature,
 * and let `run` charge each period at its time. Each charge is an order, so
 * `orders.run` sends its transaction and follows it until it is final.
 *
 * Nothing is reserved: the payer can spend the funds or revoke the permission
 * at any time. If the allowance is above the price, two copies of the database
 * in use at the same time could charge twice in one period.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when `orders` does not know the kind
 * `spendPermission`.
 *
 * @example
 * ```ts
 * import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
 * import { createSubscriptions, spendPermissions } from 'countersign/subscriptions'
 *
 * export function openSubscriptions(parameters: CreateOrdersParameters) {
 *   const orders = createOrders({ ...parameters, kinds: [spendPermissions()] })
 *   return { orders, subscriptions: createSubscriptions({ orders }) }
 * }
 * ```
 */
export function createSubscriptions(
  parameters: CreateSubscriptionsParameters,
): Subscriptions {
  checkMembers(parameters, ['orders', 'policy'])
  const { context, instance } = contextOf(parameters.orders)
  const subscriptions: SubscriptionsContext = {
    context,
    instance,
    kind: requireKind(context),
    schedule: settleSchedule(context, parameters.policy),
    loops: new Set(),
  }
  const perform = <result>(
    name: string,
    work: () => Promise<result>,
  ): Promise<result> =>
    watchVerb(context, `subscriptions.${name}`, async () => {
      await instance.openSealed()
      return work()
    })
  return {
    draft: (given) =>
      perform('draft', () => draftSubscription(subscriptions, given)),
    accept: (given) =>
      perform('accept', () => acceptSubscription(subscriptions, given)),
    charge: (given) =>
      perform('charge', () => chargeSubscription(subscriptions, given)),
    cancel: (given) =>
      perform('cancel', () => cancelSubscription(subscriptions, given)),
    restart: (given) =>
      perform('restart', () => restartSubscription(subscriptions, given)),
    get: (given) => perform('get', () => getSubscription(subscriptions, given)),
    issueBuyerToken: (given) =>
      perform('issueBuyerToken', () => issueBuyerToken(subscriptions, given)),
    getForBuyer: (given) =>
      perform('getForBuyer', () =>
        getSubscriptionForBuyer(subscriptions, given),
      ),
    list: (given = {}) =>
      perform('list', () => listSubscriptions(subscriptions, given)),
    charges: (given) =>
      perform('charges', () => listCharges(subscriptions, given)),
    chargeDue: () => perform('chargeDue', () => runSchedule(subscriptions)),
    reconcile: (given = {}) =>
      perform('reconcile', () => reconcileCharges(subscriptions, given)),
    run: (given) =>
      watchVerb(context, 'subscriptions.run', () =>
        instance.hold(runSchedules(subscriptions, given)),
      ),
  }
}

function requireKind({ kinds }: OrdersContext): SpendPermissions {
  const kind = kinds.get(spendPermissionName)
  if (kind && 'limits' in kind) return kind as SpendPermissions
  throw new OrdersSetupError(
    'have no kind for charges: pass kinds: [spendPermissions()] to createOrders',
  )
}

function settleSchedule(
  { policy: { safetyMargin: margin } }: OrdersContext,
  given: SchedulePolicy = {},
): SettledSchedule {
  checkMembers(given, ['retries', 'retryAfter'], 'policy')
  const { retries = 3, retryAfter } = Object(given)
  if (!Number.isInteger(retries) || retries < 0 || retries > 1000)
    throw new InvalidFieldError(
      'policy.retries',
      shown(retries),
      'an integer from 0 to 1000',
    )
  const isTime = typeof retryAfter === 'bigint' && retryAfter > 0n
  if (retryAfter !== undefined && !isTime)
    throw new InvalidFieldError(
      'policy.retryAfter',
      shown(retryAfter),
      'a positive bigint of seconds',
    )
  return { retries, retryAfter, margin }
}
