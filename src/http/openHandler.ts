import * as z from 'zod'
import { inTime } from '../core/wait.js'
import type { Orders } from '../orders/index.js'
import { type Admission, openAdmission } from './admission.js'
import { checkZod } from './checkZod.js'
import { allowOrigin } from './cors.js'
import { limitEach } from './limitEach.js'
import { parseParameters } from './parseParameters.js'
import { findRoute } from './routes/findRoute.js'
import { problem } from './routes/problem.js'
import { isForBuyers, type Route } from './routes/route.js'
import { createRoutes } from './routes/routes.js'
import { toProblem } from './routes/toProblem.js'
import { createBodySchemas } from './schemas/bodySchemas.js'
import { type HandlerContext, serve } from './serve.js'
import { createStreamHub } from './streams/streamHub.js'
import type { PaymentHandler, PaymentHandlerParameters } from './types.js'

/**
 * Milliseconds after which a request is answered with a timeout. A stream must
 * begin within this time, and may then last longer.
 */
const longest = 30_000

/**
 * Most bodies that are read at the same time, of one order or subscription and
 * of one merchant. A client that sends its bodies slowly takes no more places.
 */
const bodiesOfBuyer = 4
const bodiesOfMerchant = 100

/**
 * Opens the handler of `createPaymentHandler`. `more` are routes that the
 * OpenAPI document does not list; who may use them, and how many at the same
 * time, is decided as for all others.
 *
 * @throws {@link ZodVersionError} {@link InvalidFieldError}
 */
export function openHandler(
  orders: Orders,
  parameters: PaymentHandlerParameters,
  more: readonly Route[] = [],
): PaymentHandler {
  checkZod(z.toJSONSchema)
  const settled = parseParameters(parameters)
  const handler: HandlerContext = {
    ...settled,
    orders,
    hub: createStreamHub(orders, { stopping: settled.stopping }),
    routes: [...createRoutes(settled.basePath, settled.subscriptions), ...more],
    bodies: createBodySchemas(),
    // A comparison sends many requests to nodes, and a reloaded page would start
    // another one.
    compareAlone: limitEach(1, 'comparisonRunning'),
    buyerBodies: limitEach(bodiesOfBuyer, 'overloaded'),
    merchantBodies: limitEach(bodiesOfMerchant, 'overloaded'),
    admitBuyers: openAdmission(),
    admitOthers: openAdmission(),
  }
  return async (request) => {
    const response = await reply(handler, request)
    const { headers } = response
    headers.set('x-content-type-options', 'nosniff')
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    return response
  }
}

/** Answers a request. Never rejects: turns errors into problem responses. */
async function reply(
  handler: HandlerContext,
  request: Request,
): Promise<Response> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const asked = { request, signal: leaving.signal }
  try {
    const { pathname } = new URL(request.url)
    const found = findRoute(handler.routes, handler.basePath, pathname)
    request.signal.addEventListener('abort', leave)
    if (request.signal.aborted) leave()
    const isBuyers = found.routes.some(isForBuyers)
    const isProbe = found.routes.some(({ who }) => who === 'prober')
    const admit: Admission = isProbe
      ? (work) => work()
      : isBuyers
        ? handler.admitBuyers
        : handler.admitOthers
    const answered = await admit(() => {
      const work = serve(handler, asked, found).catch(toProblem)
      return inTime(work, longest, () => {
        // The client has already got the timeout. If the late answer is a
        // stream, nobody will read it, so it is ended here.
        work.then(({ body }) => body?.cancel()).catch(() => {})
        return problem('timeout')
      })
    })
    const response = answered ?? problem('overloaded')
    if (isBuyers && handler.corsOrigins.length > 0)
      allowOrigin(request, response, handler.corsOrigins)
    return response
  } catch (error) {
    return toProblem(error)
  } finally {
    request.signal.removeEventListener('abort', leave)
    // Aborts work that continued after a timeout.
    leave()
  }
}
