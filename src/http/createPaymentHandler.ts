import { inTime } from '../core/wait.js'
import type { Orders } from '../orders/Orders.js'
import { allowOrigin } from './cors.js'
import { oneAtATime } from './oneAtATime.js'
import { parseParameters } from './parseParameters.js'
import { findRoute } from './routes/findRoute.js'
import { problem } from './routes/problem.js'
import { createRoutes } from './routes/routes.js'
import { toProblem } from './routes/toProblem.js'
import { createBodySchemas } from './schemas/bodySchemas.js'
import { type Desk, serve } from './serve.js'
import { createStreamHub } from './streams/streamHub.js'
import type { PaymentHandler, PaymentHandlerParameters } from './types.js'

/** Milliseconds an answer may take; a stream only to begin. */
const longest = 30_000

/**
 * Serves orders over HTTP: to buyers what their `buyerToken` opens, to merchants
 * what `authorize` lets them act for. One function of the fetch standard, for
 * any server that speaks it.
 *
 * It captures nothing by itself: `orders.run` does, here or in another process.
 * Requests are not counted: what limits how often someone may ask stands in
 * front of it.
 *
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
  const settled = parseParameters(parameters)
  const desk: Desk = {
    ...settled,
    orders,
    hub: createStreamHub(orders),
    routes: createRoutes(settled.basePath),
    bodies: createBodySchemas(),
    compareAlone: oneAtATime(),
  }
  return async (request) => {
    const response = await reply(desk, request)
    const { headers } = response
    headers.set('x-content-type-options', 'nosniff')
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    return response
  }
}

/** Answers in any case; what goes wrong is an answer too. */
async function reply(desk: Desk, request: Request): Promise<Response> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const asked = { request, signal: leaving.signal }
  try {
    const { pathname } = new URL(request.url)
    const found = findRoute(desk.routes, desk.basePath, pathname)
    request.signal.addEventListener('abort', leave)
    if (request.signal.aborted) leave()
    const work = serve(desk, asked, found).catch(toProblem)
    const response = await inTime(work, longest, () => {
      // Nobody waits for that answer any more: its stream must end.
      work.then(({ body }) => body?.cancel()).catch(() => {})
      return problem('timeout')
    })
    const isBuyers = found.routes.some(({ who }) => who === 'buyer')
    if (isBuyers && desk.corsOrigins.length > 0)
      allowOrigin(request, response, desk.corsOrigins)
    return response
  } catch (error) {
    return toProblem(error)
  } finally {
    request.signal.removeEventListener('abort', leave)
    // The answer is there or too late: end the work that is still going on.
    leave()
  }
}
