import { RequestRefusedError } from './errors.js'
import type { Route } from './route.js'

export type FoundRoute = {
  /** The routes at this address, one for each method. */
  routes: readonly Route[]
  /** The order id in the address, percent-encoded. */
  segment: string | undefined
}

/**
 * Finds the routes at an address. Compares segments without decoding them, so
 * each route has one spelling.
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
  const at = first.path.split('/').indexOf('{orderId}')
  return { routes: found, segment: at < 0 ? undefined : segments[at] }
}

function matches(
  path: readonly string[],
  segments: readonly string[],
): boolean {
  return (
    path.length === segments.length &&
    path.every((part, at) =>
      part === '{orderId}' ? segments[at] !== '' : part === segments[at],
    )
  )
}
