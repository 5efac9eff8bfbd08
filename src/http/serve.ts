import { parseOrderId } from '../orders/model/parseOrderId.js'
import type { Orders } from '../orders/Orders.js'
import { checkOrigin, checkSite } from './checkOrigin.js'
import { checkShape } from './checkShape.js'
import { preflight } from './cors.js'
import type { OneAtATime } from './oneAtATime.js'
import type { SettledParameters } from './parseParameters.js'
import { readBody } from './readBody.js'
import { RequestRefusedError } from './routes/errors.js'
import type { FoundRoute } from './routes/findRoute.js'
import type { BuyerCall, MerchantCall, Route } from './routes/route.js'
import type { BodySchemas } from './schemas/bodySchemas.js'
import type { StreamHub } from './streams/streamHub.js'

/** What a handler serves from. */
export type Desk = SettledParameters & {
  orders: Orders
  hub: StreamHub
  routes: readonly Route[]
  bodies: BodySchemas
  compareAlone: OneAtATime
}

/** A request, and a signal that aborts when nobody waits for the answer. */
export type Asked = { request: Request; signal: AbortSignal }

/**
 * Answers a request whose address is known: first who asks, then what.
 *
 * @throws {@link RequestRefusedError} and whatever the orders throw.
 */
export async function serve(
  desk: Desk,
  { request, signal }: Asked,
  { routes, segment }: FoundRoute,
): Promise<Response> {
  const route = routes.find(({ method }) => method === request.method)
  if (!route) return serveOther(desk, request, routes)
  if (route.method === 'POST')
    checkOrigin(request, originsFor(desk, route, request))
  if (route.isExpensive) checkSite(request)
  if (route.who === 'public') return route.run()
  const orderId = segment === undefined ? '' : parseSegment(segment)
  if (route.who === 'buyer') {
    const admitted = await admitBuyer(desk, request, orderId)
    const sent = await parseSent(desk, request, route)
    return route.run({ ...sent, ...admitted, orderId, signal })
  }
  const admitted = await admitMerchant(desk, request)
  const sent = await parseSent(desk, request, route)
  return route.run({ ...sent, ...admitted, orderId, signal })
}

/** What another site's page is asked first by its browser; else no answer. */
function serveOther(
  { corsOrigins }: Desk,
  { method, headers }: Request,
  routes: readonly Route[],
): Response {
  const isPreflight =
    method === 'OPTIONS' &&
    headers.has('access-control-request-method') &&
    corsOrigins.includes(headers.get('origin') ?? '') &&
    routes.some(({ who }) => who === 'buyer')
  if (isPreflight) return preflight()
  const allow = routes.map((route) => route.method).join(', ')
  throw new RequestRefusedError('methodNotAllowed', { headers: { allow } })
}

function originsFor(
  { origins, corsOrigins }: Desk,
  { who }: Route,
  request: Request,
): readonly string[] {
  const own = origins ?? [new URL(request.url).origin]
  return who === 'buyer' ? [...own, ...corsOrigins] : own
}

/** No order has a malformed id: the answer is the same for everyone. */
function parseSegment(segment: string): string {
  try {
    return parseOrderId(decodeURIComponent(segment))
  } catch {
    throw new RequestRefusedError('orderNotFound')
  }
}

/** A missing token is a wrong one: it takes as long, and gets the same answer. */
async function admitBuyer(
  { orders }: Desk,
  { headers }: Request,
  orderId: string,
): Promise<Pick<BuyerCall, 'orders' | 'order' | 'payment'>> {
  const given = headers.get('authorization') ?? ''
  const [, buyerToken = ''] = /^Bearer +([0-9a-f]{64})$/i.exec(given) ?? []
  const { order, payment } = await orders.getForBuyer({ orderId, buyerToken })
  return { orders, order, payment }
}

/** What `authorize` throws is its own trouble, not the request's. */
async function admitMerchant(
  { orders, authorize, basePath, compareAlone }: Desk,
  request: Request,
): Promise<Pick<MerchantCall, 'orders' | 'recipients' | 'basePath' | 'alone'>> {
  try {
    const principal = await authorize(request)
    if (principal) {
      const { recipients } = principal
      return {
        orders: orders.within({ recipients }),
        recipients,
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

/** The body and the query, of the shapes the route asks for. */
async function parseSent(
  { bodies, hub }: Desk,
  request: Request,
  { body, query }: Route,
): Promise<Pick<BuyerCall, 'request' | 'hub' | 'body' | 'query'>> {
  const { searchParams } = new URL(request.url)
  return {
    request,
    hub,
    body: body && (await readBody(request, bodies[body])),
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
