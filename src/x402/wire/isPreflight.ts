import { paymentHeader } from './headers.js'

/**
 * True for the request by which a browser asks whether a page of another origin
 * may send one. It cannot carry a payment.
 */
export function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.has('origin') &&
    headers.has('access-control-request-method') &&
    !headers.has(paymentHeader)
  )
}
