import type { Address } from 'viem'
import type { MembersOf } from '../core/checkMembers.js'
import type { RefundLimit } from './routes/refundLimit.js'

/** The merchant behind a request, and the recipients it may act for. */
export type Principal = {
  /** Recipients whose orders it may see and change. */
  recipients: readonly Address[]
  /**
   * Lets it refund, up to an amount a day. @default it may not refund
   */
  refunds?: RefundLimit | undefined
}

/** What {@link createPaymentHandler} takes. */
export type PaymentHandlerParameters = {
  /** Path before all routes, such as `/payments`. @default '' */
  basePath?: string | undefined
  /**
   * Returns the merchant of a request, by your session or API key. Return
   * nothing for a stranger, who gets a 401. Not called for requests of buyers.
   */
  authorize: (
    request: Request,
  ) => Principal | undefined | Promise<Principal | undefined>
  /** Other origins whose pages may use the buyer's routes. @default none */
  cors?: { origins: readonly string[] } | undefined
  /**
   * Origins under which clients reach this handler, if a proxy changes them.
   * @default the origin of each request's own URL
   */
  origins?: readonly string[] | undefined
}

export const handlerMembers: MembersOf<PaymentHandlerParameters> = {
  basePath: true,
  authorize: true,
  cors: true,
  origins: true,
}

/** A fetch-standard handler. Never rejects. */
export type PaymentHandler = (request: Request) => Promise<Response>
