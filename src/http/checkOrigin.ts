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
