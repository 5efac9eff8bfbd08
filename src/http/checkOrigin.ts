import { RequestRefusedError } from './routes/errors.js'

/**
 * Refuses what pages of other origins would have a browser change. What names
 * no origin is no browser's.
 *
 * @throws {@link RequestRefusedError}
 */
export function checkOrigin(
  request: Request,
  allowed: readonly string[],
): void {
  const origin = request.headers.get('origin')
  if (origin === null || allowed.includes(origin)) return
  throw new RequestRefusedError('crossSite')
}

/**
 * Refuses a request that a browser marks as sent by a page of another site.
 * Older browsers and other programs set no such mark and pass.
 *
 * @throws {@link RequestRefusedError}
 */
export function checkSite({ headers }: Request): void {
  if (headers.get('sec-fetch-site') === 'cross-site')
    throw new RequestRefusedError('crossSite')
}
