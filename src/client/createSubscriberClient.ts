import type { Hex } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import type { Answers } from '../http/schemas/answerTypes.js'
import { ask } from './ask.js'
import type { AbortOptions } from './BuyerClient.js'
import {
  type ConnectionParameters,
  connectionMembers,
  openLine,
  parseHeader,
  parseText,
} from './line.js'

/** Parameters of {@link createSubscriberClient}. */
export type CreateSubscriberClientParameters = ConnectionParameters & {
  subscriptionId: string
  /**
   * The secret token of the subscription, from `issueBuyerToken`. It gives all
   * rights of the buyer.
   */
  buyerToken: string
}

/** The subscription as its buyer sees it. Integers are decimal strings. */
export type SubscriberState = Answers['BuyerSubscription']

/** The calls for the buyer of one subscription. */
export interface SubscriberClient {
  /**
   * Reads the subscription, with the permission to sign and its newest charges.
   * Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { SubscriberClient } from 'countersign/client'
   *
   * export async function isActive(subscriber: SubscriberClient) {
   *   const { state } = await subscriber.get()
   *   return state === 'active'
   * }
   * ```
   */
  get(options?: AbortOptions): Promise<SubscriberState>

  /**
   * Sends the signature of the permission. Retried after transient failures.
   *
   * @throws {@link ProblemError} with the reason why the permission is refused.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { SubscriberClient } from 'countersign/client'
   *
   * export const accept = (subscriber: SubscriberClient, signature: `0x${string}`) =>
   *   subscriber.accept({ signature })
   * ```
   */
  accept(
    parameters: AbortOptions & { signature: Hex },
  ): Promise<SubscriberState>

  /**
   * Stops all further charges, and asks the shop to revoke the permission on
   * chain. A charge that is already sent can still be made. Retried after
   * transient failures.
   *
   * @throws {@link ProblemError} `notOpen` when the last period is over.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { SubscriberClient } from 'countersign/client'
   *
   * export const stop = (subscriber: SubscriberClient) => subscriber.cancel()
   * ```
   */
  cancel(options?: AbortOptions): Promise<SubscriberState>
}

const members: MembersOf<CreateSubscriberClientParameters> = {
  ...connectionMembers,
  subscriptionId: true,
  buyerToken: true,
}

/**
 * Creates a client for the buyer of one subscription, for pages and programs.
 * It talks to the routes that `createPaymentHandler` serves when it gets
 * `subscriptions`. It holds no key: the wallet signs.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { createSubscriberClient } from 'countersign/client'
 *
 * export const open = (subscriptionId: string, buyerToken: string) =>
 *   createSubscriberClient({ url: '/payments', subscriptionId, buyerToken })
 * ```
 */
export function createSubscriberClient(
  parameters: CreateSubscriberClientParameters,
): SubscriberClient {
  checkMembers(parameters, members)
  const { subscriptionId, buyerToken, ...connection } = parameters
  const line = openLine(connection, parseHeader(buyerToken, 'buyerToken'))
  const id = parseText(subscriptionId, 'subscriptionId')
  const path = `/subscriptions/${encodeURIComponent(id)}`
  return {
    get: ({ signal } = {}) => ask(line, { path, signal }),
    accept: ({ signature, signal }) =>
      ask(line, { path: `${path}/signature`, body: { signature }, signal }),
    cancel: ({ signal } = {}) =>
      ask(line, { path: `${path}/cancellation`, body: {}, signal }),
  }
}
