import { RequestRefusedError } from './routes/errors.js'

/**
 * Refuses a request that a page of another origin sent. Passes a request
 * without an `Origin` header: browsers send the header with every POST, so no
 * page sent that request.
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
 * Refuses a request that a browser marks (`Sec-Fetch-Site`) as sent by a page
 * of another site. Passes requests without this header: older browsers and
 * other programs do not send it.
 *
 * @throws {@link RequestRefusedError}
 */
export function checkSite({ headers }: Request): void {
  if (headers.get('sec-fetch-site') === 'cross-site')
    throw new RequestRefusedError('crossSite')
}
