import { hashText } from '../core/hashText.js'
import { decodeHeader, paymentHeader } from '../x402/wire/headers.js'

/**
 * Returns the name of the cookie that holds the payment for a resource.
 * Browsers also send the cookies of an address to all addresses below it, so
 * each resource needs its own name: a payment for `/a` must not be used for
 * `/a/b`.
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
 * Returns a `GET` request with the payment in a header, as programs send it.
 * Does not copy the request: in Next.js it is a proxy, which some runtimes
 * cannot copy.
 */
export function withPayment(
  request: Pick<Request, 'url' | 'signal' | 'headers'>,
  payment: string,
): Request {
  const headers = new Headers(request.headers)
  headers.set(paymentHeader, payment)
  return new Request(request.url, { headers, signal: request.signal })
}

/** Returns the nonce of the payment in a cookie, or an empty string. */
export function nonceOf(payment: string): string {
  const decoded = Object(decodeHeader(payment))
  const { nonce } = Object(Object(decoded.payload).authorization)
  // Other sites of the domain can set this cookie, so it may contain anything.
  return typeof nonce === 'string' ? nonce : ''
}
