import { RequestRefusedError } from './errors.js'
import type { Route } from './route.js'

/** The names that can stand in braces in a route's path. */
export const pathParameters = ['orderId', 'refundId', 'subscriptionId'] as const

type PathParameter = (typeof pathParameters)[number]

export type FoundRoute = {
  /** The routes at this address, one for each method. */
  routes: readonly Route[]
  /** The ids in the address, still percent-encoded. */
  segments: Readonly<Record<PathParameter, string | undefined>>
}

/**
 * Finds the routes at an address. Compares its segments before decoding percent
 * escapes, so that each route has only one spelling.
 *
 * @throws {@link RequestRefusedError}
 */
export function findRoute(
  routes: readonly Route[],
  basePath: string,
  pathname: string,
): FoundRoute {
  if (!pathname.startsWith(`${basePath}/`))
    throw new RequestRefusedError('noRoute')
  const segments = pathname.slice(basePath.length).split('/')
  const found = routes.filter(({ path }) => matches(path.split('/'), segments))
  const [first] = found
  if (!first) throw new RequestRefusedError('noRoute')
  const path = first.path.split('/')
  const segmentOf = (name: PathParameter) => segments[path.indexOf(`{${name}}`)]
  return {
    routes: found,
    segments: {
      orderId: segmentOf('orderId'),
      refundId: segmentOf('refundId'),
      subscriptionId: segmentOf('subscriptionId'),
    },
  }
}

function matches(
  path: readonly string[],
  segments: readonly string[],
): boolean {
  return (
    path.length === segments.length &&
    path.every((part, at) =>
      part.startsWith('{') ? segments[at] !== '' : part === segments[at],
    )
  )
}
