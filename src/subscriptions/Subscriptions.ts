import type { RunSchedulesParameters } from './runSchedules.js'
import type { Subscription } from './schedule/showSubscription.js'
import type {
  AcceptSubscriptionParameters,
  AcceptSubscriptionVerdict,
} from './verbs/acceptSubscription.js'
import type {
  IssuedBuyerToken,
  SubscriptionForBuyerParameters,
} from './verbs/buyerTokens.js'
import type {
  CancelSubscriptionVerdict,
  SubscriptionIdParameters,
} from './verbs/cancelSubscription.js'
import type {
  ChargeSubscriptionParameters,
  ChargeVerdict,
} from './verbs/chargeSubscription.js'
import type {
  DraftedSubscription,
  DraftSubscriptionParameters,
} from './verbs/draftSubscription.js'
import type {
  ListChargesParameters,
  ListedCharges,
  ListedSubscriptions,
  ListSubscriptionsParameters,
} from './verbs/listSubscriptions.js'
import type { ReconciledCharges } from './verbs/reconcileBlock.js'
import type { ReconcileChargesParameters } from './verbs/reconcileCharges.js'
import type { RestartSubscriptionVerdict } from './verbs/restartSubscription.js'
import type { ChargeDueReport } from './verbs/runSchedule.js'

/**
 * Methods for the subscriptions of a shop: draft, accept, charge, cancel, list
 * and run.
 */
export interface Subscriptions {
  /**
   * Creates a subscription, and the permission for its payer to sign. Until the
   * payer signs, a repeated call with the same id and terms returns the same
   * permission. Other terms are refused. A repeated call keeps the first call's
   * `metadata`, and its `start` if you leave `start` out.
   *
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a
   * parameter is malformed, the id belongs to something else, or the recipient
   * is not the account of a wallet of these orders.
   * @throws {@link OrdersSetupError} when the recipient's account is not a
   * local one, so that its wallet sends by itself.
   * @throws {@link UnsupportedTokenError} {@link DomainMismatchError} when the
   * token is not an EIP-3009 token, or its domain is unknown.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
   * s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const draft = (subscriptions: Subscriptions, account: `0x${string}`) =>
   *   subscriptions.draft({ account, amount: '9.99', period: 30n * 86_400n })
   * ```
   */
  draft(parameters: DraftSubscriptionParameters): Promise<DraftedSubscription>

  /**
   * Simulates the approval of the permission and a first charge. If both would
   * succeed, stores the payer's signature encrypted. From then on the schedule
   * charges each period, beginning with the current one.
   *
   * A passing verdict holds for the block of the simulation: the payer can
   * spend the funds or revoke the permission at any time.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
   * s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export async function accept(
   *   subscriptions: Subscriptions,
   *   subscriptionId: string,
   *   signature: `0x${string}`,
   * ) {
   *   const verdict = await subscriptions.accept({ subscriptionId, signature })
   *   return verdict.ok ? 'subscribed' : verdict.reason
   * }
   * ```
   */
  accept(
    parameters: AcceptSubscriptionParameters,
  ): Promise<AcceptSubscriptionVerdict>

  /**
   * Charges once under your own id, in the current period. The charge is an
   * order, which a worker sends. A repeated call with the same `chargeId` never
   * charges a second time: it retries a charge that was refused before it was
   * sent, and refuses one that expired or was voided.
   *
   * The `SpendPermissionManager` contract has no nonce for a charge. If the
   * allowance is above the price, two copies of the database in use at the same
   * time could charge twice.
   *
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a
   * parameter is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
   * s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const bill = (subscriptions: Subscriptions, subscriptionId: string) =>
   *   subscriptions.charge({
   *     subscriptionId,
   *     chargeId: 'usage-2026-11',
   *     amount: '4.20',
   *   })
   * ```
   */
  charge(parameters: ChargeSubscriptionParameters): Promise<ChargeVerdict>

  /**
   * Stops the schedule, voids charges that were not sent, and requests that a
   * worker revoke the permission on chain. A charge whose transaction is
   * already sent can still be mined before the revocation. The subscription
   * becomes `canceled` once the chain shows the revocation event, or at once if
   * the payer has not signed.
   *
   * @throws {@link InvalidFieldError} when the id is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const stop = (subscriptions: Subscriptions, subscriptionId: string) =>
   *   subscriptions.cancel({ subscriptionId })
   * ```
   */
  cancel(
    parameters: SubscriptionIdParameters,
  ): Promise<CancelSubscriptionVerdict>

  /**
   * Restarts the schedule of an `unpaid` subscription with the current period.
   *
   * @throws {@link InvalidFieldError} when the id is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
   * s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const goOn = (subscriptions: Subscriptions, subscriptionId: string) =>
   *   subscriptions.restart({ subscriptionId })
   * ```
   */
  restart(
    parameters: SubscriptionIdParameters,
  ): Promise<RestartSubscriptionVerdict>

  /**
   * Returns a subscription, without the payer's signature.
   *
   * @throws {@link InvalidFieldError} when the id is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export async function isActive(subscriptions: Subscriptions, subscriptionId: string) {
   *   const { state } = await subscriptions.get({ subscriptionId })
   *   return state === 'active'
   * }
   * ```
   */
  get(parameters: SubscriptionIdParameters): Promise<Subscription>

  /**
   * Creates a new secret for the person who pays, for `subscribeUrl` of the
   * pages and for `getForBuyer`. The earlier one of this subscription stops
   * working, and refused signatures are counted from zero again. Anyone who has it can read, sign and cancel the subscription.
   *
   * @throws {@link InvalidFieldError} when the id is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   *
   * @example
   * ```ts
   * import type { Pages } from 'countersign/pages'
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export async function linkTo(
   *   pages: Pages,
   *   subscriptions: Subscriptions,
   *   subscriptionId: string,
   * ) {
   *   const { buyerToken } = await subscriptions.issueBuyerToken({ subscriptionId })
   *   return pages.subscribeUrl({ subscriptionId, buyerToken })
   * }
   * ```
   */
  issueBuyerToken(
    parameters: SubscriptionIdParameters,
  ): Promise<IssuedBuyerToken>

  /**
   * Returns a subscription to the person who has its buyer token.
   *
   * @throws {@link InvalidFieldError} when the id is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription, or the token is not its newest.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const show = (
   *   subscriptions: Subscriptions,
   *   subscriptionId: string,
   *   buyerToken: string,
   * ) => subscriptions.getForBuyer({ subscriptionId, buyerToken })
   * ```
   */
  getForBuyer(parameters: SubscriptionForBuyerParameters): Promise<Subscription>

  /**
   * Lists subscriptions, the newest first.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const list = (subscriptions: Subscriptions) =>
   *   subscriptions.list({ limit: 20 })
   * ```
   */
  list(parameters?: ListSubscriptionsParameters): Promise<ListedSubscriptions>

  /**
   * Lists the charges of a subscription, the newest first. Each is an order.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link SubscriptionNotFoundError} when there is no such
   * subscription.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const history = (subscriptions: Subscriptions, subscriptionId: string) =>
   *   subscriptions.charges({ subscriptionId })
   * ```
   */
  charges(parameters: ListChargesParameters): Promise<ListedCharges>

  /**
   * Runs all due schedules once. Call it from a cron job if no process calls
   * `run`. Only creates the charges: `orders.run` sends them.
   *
   * @example
   * ```ts
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const everyMinute = (subscriptions: Subscriptions) =>
   *   subscriptions.chargeDue()
   * ```
   */
  chargeDue(): Promise<ChargeDueReport>

  /**
   * Reads the charges of all subscriptions from the chain, and writes to the
   * database those that it lacks. Call it after you restored a backup, before
   * `orders.resume`. `run` does the same at its start and every ten minutes.
   *
   * Cannot find a charge whose transaction is not mined yet.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
   * a node refuses or does not answer.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export async function goOn(orders: Orders, subscriptions: Subscriptions) {
   *   await orders.reconcile()
   *   await subscriptions.reconcile()
   *   await orders.resume()
   * }
   * ```
   */
  reconcile(parameters?: ReconcileChargesParameters): Promise<ReconciledCharges>

  /**
   * Charges each period at its time, until `signal` aborts or the orders are
   * closed. `orders.run` must run too, here or in another process: it sends the
   * charges. Any number of processes may run over one store.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link StoreError} when the store says `restart the process`.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Subscriptions } from 'countersign/subscriptions'
   *
   * export const work = (
   *   orders: Orders,
   *   subscriptions: Subscriptions,
   *   signal: AbortSignal,
   * ) => Promise.all([orders.run({ signal }), subscriptions.run({ signal })])
   * ```
   */
  run(parameters: RunSchedulesParameters): Promise<void>
}
