import { hashText } from '../core/hashText.js'
import { decodeHeader, paymentHeader } from '../x402/wire/headers.js'

/**
 * Name of the cookie that holds the payment for a resource. Browsers send the
 * cookies of an address to all addresses below it, so that each resource needs
 * a name of its own: no payment for `/a` may be taken for one for `/a/b`.
 */
export function nameCookie(resource: string): string {
  return `countersign-${hashText(resource).slice(2, 14)}`
}

/** Finds the value of a cookie. */
export function readCookie(
  { headers }: Pick<Request, 'headers'>,
  name: string,
): string | undefined {
  const start = `${name}=`
  const found = (headers.get('cookie') ?? '')
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(start))
  return found?.slice(start.length)
}

/**
 * Returns a `GET` request that pays as a program does. Not a copy of the other:
 * that of Next.js is a proxy, which cannot be copied everywhere.
 */
export function withPayment(
  request: Pick<Request, 'url' | 'signal' | 'headers'>,
  payment: string,
): Request {
  const headers = new Headers(request.headers)
  headers.set(paymentHeader, payment)
  return new Request(request.url, { headers, signal: request.signal })
}

/** The nonce of a payment that a cookie holds; empty if it has none. */
export function nonceOf(payment: string): string {
  const decoded = Object(decodeHeader(payment))
  const { nonce } = Object(Object(decoded.payload).authorization)
  // Other sites of the domain can set cookies: it may be anything.
  return typeof nonce === 'string' ? nonce : ''
}
