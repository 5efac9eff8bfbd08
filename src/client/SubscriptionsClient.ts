import type { Hex } from 'viem'
import type { Answers } from '../http/schemas/answerTypes.js'
import type {
  ChargeBody,
  SubscriptionDraftBody,
} from '../http/schemas/bodySchemas.js'
import type { SubscriptionsQuery } from '../http/schemas/querySchemas.js'
import type { SpendPermission } from '../subscriptions/permission/types.js'
import type { AbortOptions } from './BuyerClient.js'

/** Id of the subscription that the method is about. */
export type SubscriptionParameters = AbortOptions & { subscriptionId: string }

/** Parameters of `draft` of subscriptions. */
type DraftSubscriptionRequest = AbortOptions &
  Omit<SubscriptionDraftBody, 'period' | 'start' | 'end'> & {
    /**
     * Id of the subscription, up to 63 characters, so that a repeated request
     * does not create a second one.
     * @default 31 random bytes, drawn before the first try
     */
    idempotencyKey?: string | undefined
    /** Length of one period in seconds. */
    period: bigint
    /**
     * Unix seconds at which the first period begins.
     * @default now, in block time
     */
    start?: bigint | undefined
    /**
     * Unix seconds from which the permission no longer holds.
     * @default the end of the last of `periods`, or never if that is absent too
     */
    end?: bigint | undefined
  }

/** Parameters of `list` of subscriptions. */
type ListSubscriptionsRequest = AbortOptions &
  Omit<SubscriptionsQuery, 'limit'> & {
    /** Most subscriptions on a page, at most 200. */
    limit?: number | undefined
  }

/** Parameters of `listCharges`. */
type ListChargesRequest = SubscriptionParameters &
  Pick<ListSubscriptionsRequest, 'before' | 'limit'>

/** The routes of subscriptions as methods, for a merchant. */
export interface SubscriptionsClient {
  /**
   * Drafts a subscription, and returns the permission that its payer signs.
   * Retried after transient failures, under the same id.
   *
   * @throws {@link ProblemError} when the server refuses it:
   * `subscriptionIdInUse` for an id with other terms.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws {@link InvalidFieldError} when no header can contain
   * `idempotencyKey`.
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const draft = (subscriptions: SubscriptionsClient, account: `0x${string}`) =>
   *   subscriptions.draft({ account, amount: '9.99', period: 30n * 86_400n })
   * ```
   */
  draft(
    parameters: DraftSubscriptionRequest,
  ): Promise<Answers['DraftedSubscription']>

  /**
   * Returns the permission of a subscription for `signSpendPermission`. Retried
   * after transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   * @throws {@link InvalidFieldError} when the answer is no permission.
   *
   * @example
   * ```ts
   * import type { Wallet } from 'countersign'
   * import type { SubscriptionsClient } from 'countersign/client'
   * import { signSpendPermission } from 'countersign/subscriptions'
   *
   * export const sign = async (
   *   subscriptions: SubscriptionsClient,
   *   subscriptionId: string,
   *   wallet: Wallet,
   * ) =>
   *   signSpendPermission(wallet, {
   *     permission: await subscriptions.requestPermission({ subscriptionId }),
   *     expect: {
   *       chainId: 8453,
   *       spender: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
   *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
   *       allowance: '9.99',
   *       period: 30n * 86_400n,
   *     },
   *   })
   * ```
   */
  requestPermission(
    parameters: SubscriptionParameters,
  ): Promise<SpendPermission>

  /**
   * Sends the payer's signature of the permission to the server. Retried after
   * transient failures.
   *
   * @throws {@link ProblemError} with the reason why the permission is refused.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const accept = (
   *   subscriptions: SubscriptionsClient,
   *   subscriptionId: string,
   *   signature: `0x${string}`,
   * ) => subscriptions.accept({ subscriptionId, signature })
   * ```
   */
  accept(
    parameters: SubscriptionParameters & { signature: Hex },
  ): Promise<Answers['SubscriptionAnswer']>

  /**
   * Issues a new secret for the person who pays, for the link to the page of
   * the subscription. The earlier one stops working. Retried after transient
   * failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const newToken = (subscriptions: SubscriptionsClient, subscriptionId: string) =>
   *   subscriptions.issueBuyerToken({ subscriptionId })
   * ```
   */
  issueBuyerToken(
    parameters: SubscriptionParameters,
  ): Promise<Answers['IssuedBuyerToken']>

  /**
   * Reads a subscription. Retried after transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export async function isActive(subscriptions: SubscriptionsClient, subscriptionId: string) {
   *   const { state } = await subscriptions.get({ subscriptionId })
   *   return state === 'active'
   * }
   * ```
   */
  get(parameters: SubscriptionParameters): Promise<Answers['Subscription']>

  /**
   * Yields pages of subscriptions, the newest first. Each request is retried
   * after transient failures. A page can be short or empty, because other
   * subscriptions in the database belong to other merchants.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export async function print(client: SubscriptionsClient) {
   *   for await (const { subscriptions } of client.list())
   *     for (const { id, state } of subscriptions) console.log(id, state)
   * }
   * ```
   */
  list(
    parameters?: ListSubscriptionsRequest,
  ): AsyncGenerator<Answers['SubscriptionList'], void>

  /**
   * Charges in the current period, once for each `chargeId`. Retried after
   * transient failures. A worker sends the charge later.
   *
   * @throws {@link ProblemError} with the reason why nothing is charged.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const bill = (subscriptions: SubscriptionsClient, subscriptionId: string) =>
   *   subscriptions.charge({
   *     subscriptionId,
   *     chargeId: 'usage-2026-11',
   *     amount: '4.20',
   *   })
   * ```
   */
  charge(
    parameters: SubscriptionParameters & ChargeBody,
  ): Promise<Answers['Charge']>

  /**
   * Yields pages of a subscription's charges, the newest first. Each is an
   * order. Each request is retried after transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export async function print(client: SubscriptionsClient, subscriptionId: string) {
   *   for await (const { charges } of client.listCharges({ subscriptionId }))
   *     for (const { id, state } of charges) console.log(id, state)
   * }
   * ```
   */
  listCharges(
    parameters: ListChargesRequest,
  ): AsyncGenerator<Answers['ChargeList'], void>

  /**
   * Stops charging, and has the permission revoked on chain. Retried after
   * transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const stop = (subscriptions: SubscriptionsClient, subscriptionId: string) =>
   *   subscriptions.cancel({ subscriptionId })
   * ```
   */
  cancel(
    parameters: SubscriptionParameters,
  ): Promise<Answers['SubscriptionAnswer']>

  /**
   * Lets an `unpaid` subscription be charged again. Never retried: a second
   * request would be refused, because the subscription is no longer `unpaid`.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { SubscriptionsClient } from 'countersign/client'
   *
   * export const goOn = (subscriptions: SubscriptionsClient, subscriptionId: string) =>
   *   subscriptions.restart({ subscriptionId })
   * ```
   */
  restart(
    parameters: SubscriptionParameters,
  ): Promise<Answers['SubscriptionAnswer']>
}
