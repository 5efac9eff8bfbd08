import type { Address } from 'viem'
import type { MembersOf } from '../core/checkMembers.js'

/** Who asks as a merchant, and for whom. */
export type Principal = {
  /** Nothing of any other recipient is shown or changed. */
  recipients: readonly Address[]
}

/** What {@link createPaymentHandler} takes. */
export type PaymentHandlerParameters = {
  /** Where the routes begin, such as `/payments`. @default '' */
  basePath?: string | undefined
  /**
   * Says who a merchant's request is from, by its own session or key; nothing
   * for a stranger, who gets a 401. Never asked about a buyer's request.
   */
  authorize: (
    request: Request,
  ) => Principal | undefined | Promise<Principal | undefined>
  /** Sites of other origins whose pages may use the buyer's routes. @default none */
  cors?: { origins: readonly string[] } | undefined
  /**
   * Origins this handler is reached by, where a proxy changes them.
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

/** Answers a request; a fetch-standard handler. Never rejects. */
export type PaymentHandler = (request: Request) => Promise<Response>
