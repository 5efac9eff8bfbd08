import type { Address } from 'viem'
import type { MembersOf } from '../core/checkMembers.js'
import type { Subscriptions } from '../subscriptions/Subscriptions.js'
import type { RefundLimit } from './routes/refundLimit.js'

/**
 * A merchant who sends requests, and the recipients whose orders this merchant
 * may use.
 */
export type Principal = {
  /** Recipients whose orders the merchant may see and change. */
  recipients: readonly Address[]
  /** Allows refunds, up to an amount each day. @default no refunds */
  refunds?: RefundLimit | undefined
  /**
   * Allows `suspend`, `resume` and `reseal`, and replays of webhooks on the
   * merchant's pages. These act on the whole database, for every shop in it.
   * @default not allowed
   */
  operates?: boolean | undefined
}

export const principalMembers: MembersOf<Principal> = {
  recipients: true,
  refunds: true,
  operates: true,
}

/** Parameters of {@link createPaymentHandler}. */
export type PaymentHandlerParameters = {
  /** Path before all routes, such as `/payments`. @default '' */
  basePath?: string | undefined
  /**
   * Returns the merchant who sent a request, found by your session or API key.
   * Return `undefined` if nobody may send it: the answer is then 401. Not
   * called for requests of buyers.
   */
  authorize: (
    request: Request,
  ) => Principal | undefined | Promise<Principal | undefined>
  /**
   * Other origins whose pages may send requests with a buyer's token. @default
   * none
   */
  cors?: { origins: readonly string[] } | undefined
  /**
   * Origins at which clients reach this handler, such as
   * `https://shop.example`. Needed if a proxy in front of it changes host or
   * scheme.
   * @default the origin of each request's own URL
   */
  origins?: readonly string[] | undefined
  /**
   * The subscriptions of the same `orders`, to serve routes for them. @default
   * no routes for subscriptions
   */
  subscriptions?: Subscriptions | undefined
  /**
   * Aborts when the process begins to stop. From then on `GET /readyz` answers
   * 503, and streams end and are refused, so that load balancer and clients use
   * another process. All other requests are still answered.
   * @default never
   */
  stopping?: AbortSignal | undefined
}

/** Answers a fetch `Request` with a `Response`. Never rejects. */
export type PaymentHandler = (request: Request) => Promise<Response>
