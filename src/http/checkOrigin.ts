import { RequestRefusedError } from '../routes/errors.js'

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
 * Refuses what a page of another site would have a browser ask. An older
 * browser, and whatever is none, does not say where a request comes from.
 *
 * @throws {@link RequestRefusedError}
 */
export function checkSite({ headers }: Request): void {
  if (headers.get('sec-fetch-site') === 'cross-site')
    throw new RequestRefusedError('crossSite')
}
