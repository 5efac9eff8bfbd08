import type { Orders } from '../orders/index.js'
import { openHandler } from './openHandler.js'
import type { PaymentHandler, PaymentHandlerParameters } from './types.js'

/**
 * Serves orders over HTTP. Buyers send the `buyerToken` of their order and
 * reach only this order. Merchants reach the orders of the recipients that
 * `authorize` returns for them. The handler takes a `Request` and returns a
 * `Response`, so it runs on every server that knows the fetch standard.
 *
 * It does not send captures: run a worker (`orders.run`), here or in another
 * process. It has no rate limit: put one in front of it. At the same time it
 * answers at most 500 requests of buyers and 500 others, and refuses more.
 *
 * @throws {@link ZodVersionError} when `zod` is older than 4.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { createPaymentHandler } from 'countersign/http'
 * import type { Orders } from 'countersign/orders'
 * import type { Address } from 'viem'
 *
 * export function servePayments(orders: Orders, shop: Address, key: string) {
 *   return createPaymentHandler(orders, {
 *     basePath: '/payments',
 *     authorize: ({ headers }) =>
 *       headers.get('authorization') === `Bearer ${key}`
 *         ? { recipients: [shop] }
 *         : undefined,
 *   })
 * }
 * ```
 */
export function createPaymentHandler(
  orders: Orders,
  parameters: PaymentHandlerParameters,
): PaymentHandler {
  return openHandler(orders, parameters)
}
