import { paymentHeader } from './headers.js'

/**
 * True for a CORS preflight request, by which a browser asks whether a page of
 * another origin may send the real one. Browsers send no payment with it.
 */
export function isPreflight({ method, headers }: Request): boolean {
  return (
    method === 'OPTIONS' &&
    headers.has('origin') &&
    headers.has('access-control-request-method') &&
    !headers.has(paymentHeader)
  )
}
