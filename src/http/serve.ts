import { checkMembers } from '../core/checkMembers.js'
import { grantOf } from '../core/grantOf.js'
import { endOnAbort } from '../core/onAbort.js'
import { parseOrderId } from '../core/parseOrderId.js'
import type { Orders } from '../orders/index.js'
import type { Admission } from './admission.js'
import { checkOrigin, checkSite } from './checkOrigin.js'
import { checkShape } from './checkShape.js'
import { preflight } from './cors.js'
import type { LimitEach } from './limitEach.js'
import type { SettledParameters } from './parseParameters.js'
import { readBody } from './readBody.js'
import { RequestRefusedError } from './routes/errors.js'
import type { FoundRoute } from './routes/findRoute.js'
import {
  type BuyerCall,
  isForBuyers,
  isStream,
  type MerchantCall,
  type Route,
  type SubscriberCall,
} from './routes/route.js'
import type { BodySchemas } from './schemas/bodySchemas.js'
import type { StreamHub } from './streams/streamHub.js'
import { principalMembers } from './types.js'

/** The checked parameters of a handler, with its routes and streams. */
export type HandlerContext = SettledParameters & {
  orders: Orders
  hub: StreamHub
  routes: readonly Route[]
  bodies: BodySchemas
  /** Lets each merchant run one comparison of database and chain at a time. */
  compareAlone: LimitEach
  /** Limit the bodies that are read at the same time. */
  buyerBodies: LimitEach
  merchantBodies: LimitEach
  /**
   * Two limits, one for buyers and one for all others, so that a crowd of
   * buyers does not lock out the merchant.
   */
  admitBuyers: Admission
  admitOthers: Admission
}

/**
 * A request, with a signal that aborts when the client disconnects or the time
 * for an answer is over.
 */
export type ServedRequest = { request: Request; signal: AbortSignal }

/**
 * Answers a request whose address has a route. Checks who sent it before
 * reading the body.
 *
 * @throws {@link RequestRefusedError} and any error of `orders`.
 */
export async function serve(
  handler: HandlerContext,
  asked: ServedRequest,
  { routes, segments }: FoundRoute,
): Promise<Response> {
  const { request, signal } = asked
  const { buyerBodies, merchantBodies } = handler
  const isHead = request.method === 'HEAD' && routes.some(isProbe)
  const asGet = isHead ? 'GET' : request.method
  const route = routes.find(({ method }) => method === asGet)
  if (!route) return serveOther(handler, request, routes)
  if (route.method === 'POST')
    checkOrigin(request, originsFor(handler, route, request))
  if (route.isExpensive) checkSite(request)
  if (route.who === 'public') return route.run()
  if (route.who === 'prober') {
    const response = await route.run(handler)
    return isHead ? new Response(null, response) : response
  }
  // A new stream would only be cut off soon.
  if (handler.stopping?.aborted && isStream(route))
    throw new RequestRefusedError('stopping')
  const ids = {
    orderId: parseSegment(segments.orderId, 'orderNotFound'),
    refundId: parseSegment(segments.refundId, 'refundNotFound'),
    subscriptionId: parseSegment(
      segments.subscriptionId,
      'subscriptionNotFound',
    ),
  }
  if (route.who === 'buyer') {
    const admitted = await admitBuyer(handler, request, ids.orderId)
    const sent = await parseSent(handler, asked, route, (read) =>
      buyerBodies(['order', ids.orderId], read),
    )
    return route.run({ ...sent, ...admitted, ...ids, signal })
  }
  if (route.who === 'subscriber') {
    const { subscriptionId } = ids
    const admitted = await admitSubscriber(handler, request, subscriptionId)
    const sent = await parseSent(handler, asked, route, (read) =>
      buyerBodies(['subscription', subscriptionId], read),
    )
    return route.run({ ...sent, ...admitted, ...ids, signal })
  }
  const admitted = await admitMerchant(handler, request)
  const sent = await parseSent(handler, asked, route, (read) =>
    merchantBodies(admitted.recipients, read),
  )
  return route.run({ ...sent, ...admitted, ...ids, signal })
}

/** Answers a CORS preflight request; refuses every other method with a 405. */
function serveOther(
  { corsOrigins }: HandlerContext,
  { method, headers }: Request,
  routes: readonly Route[],
): Response {
  const isPreflight =
    method === 'OPTIONS' &&
    headers.has('access-control-request-method') &&
    corsOrigins.includes(headers.get('origin') ?? '') &&
    routes.some(isForBuyers)
  if (isPreflight) return preflight()
  const methods = routes.map((route) => route.method)
  const allow = [...methods, ...(routes.some(isProbe) ? ['HEAD'] : [])].join(
    ', ',
  )
  throw new RequestRefusedError('methodNotAllowed', { headers: { allow } })
}

/** Load balancers also probe with HEAD. */
const isProbe = ({ who }: Route) => who === 'prober'

function originsFor(
  { origins, corsOrigins }: HandlerContext,
  route: Route,
  request: Request,
): readonly string[] {
  const own = origins ?? [new URL(request.url).origin]
  return isForBuyers(route) ? [...own, ...corsOrigins] : own
}

/**
 * Decodes an id in the address. A malformed id gets the same answer as an
 * unknown one.
 */
function parseSegment(
  segment: string | undefined,
  refusal: 'orderNotFound' | 'refundNotFound' | 'subscriptionNotFound',
): string {
  if (segment === undefined) return ''
  try {
    return parseOrderId(decodeURIComponent(segment))
  } catch {
    throw new RequestRefusedError(refusal)
  }
}

/**
 * Checks a buyer's token. A missing token gets the same answer as a wrong one,
 * after the same time, so that neither shows whether the order exists.
 */
async function admitBuyer(
  { orders }: HandlerContext,
  request: Request,
  orderId: string,
): Promise<Pick<BuyerCall, 'orders' | 'order' | 'payment'>> {
  const buyerToken = readBuyerToken(request)
  const { order, payment } = await orders.getForBuyer({ orderId, buyerToken })
  return { orders, order, payment }
}

/** Checks the token of a subscription's buyer in the same way. */
async function admitSubscriber(
  { subscriptions }: HandlerContext,
  request: Request,
  subscriptionId: string,
): Promise<Pick<SubscriberCall, 'subscriptions' | 'subscription'>> {
  // Without `subscriptions`, there are no such routes.
  if (!subscriptions) throw new RequestRefusedError('noRoute')
  const buyerToken = readBuyerToken(request)
  const asked = { subscriptionId, buyerToken }
  const subscription = await subscriptions.getForBuyer(asked)
  return { subscriptions, subscription }
}

function readBuyerToken({ headers }: Request): string {
  const given = headers.get('authorization') ?? ''
  return /^Bearer +([0-9a-f]{64})$/i.exec(given)?.[1] ?? ''
}

/**
 * Calls `authorize`. If it throws, the answer is 500 and not 401: the shop's
 * code failed, and the client may well have access.
 */
async function admitMerchant(
  { orders, authorize, basePath, compareAlone }: HandlerContext,
  request: Request,
): Promise<
  Pick<
    MerchantCall,
    | 'orders'
    | 'recipients'
    | 'all'
    | 'refunds'
    | 'operates'
    | 'basePath'
    | 'alone'
  >
> {
  try {
    const given = await authorize(request)
    const principal = grantOf(given, principalMembers, 'principal')
    if (principal) {
      const { recipients, refunds, operates } = principal
      if (refunds) checkMembers(refunds, { perDay: true }, 'principal.refunds')
      return {
        orders: orders.within({ recipients }),
        recipients,
        all: orders,
        refunds,
        // Compared with `true`, because the text `'false'`, such as from an
        // environment variable, is truthy.
        operates: operates === true,
        basePath,
        alone: (work) => compareAlone(recipients, work),
      }
    }
  } catch {
    throw new RequestRefusedError('internal')
  }
  throw new RequestRefusedError('unauthorized', {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

type Limit = (read: () => Promise<unknown>) => Promise<unknown>

/**
 * Parses the body and the query against the route's schemas. A body that comes
 * slowly is read until the request times out.
 */
async function parseSent(
  { bodies, hub }: HandlerContext,
  { request, signal }: ServedRequest,
  { body, query }: Route,
  limit: Limit,
): Promise<Pick<BuyerCall, 'request' | 'hub' | 'body' | 'query'>> {
  const { searchParams } = new URL(request.url)
  return {
    request,
    hub,
    body:
      body &&
      (await limit(() => endOnAbort(readBody(request, bodies[body]), signal))),
    query: query && checkShape(query, parseQuery(searchParams), 'query'),
  }
}

function parseQuery(parameters: URLSearchParams): Record<string, string> {
  const names = [...parameters.keys()]
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined)
    throw new RequestRefusedError('invalidField', {
      field: 'query',
      detail: 'A parameter is given twice.',
    })
  return Object.fromEntries(parameters)
}
