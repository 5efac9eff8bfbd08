import { oldPaymentHeader, paymentHeader } from '../x402/wire/headers.js'

/**
 * True when a browser opens a page for a person. Programs send a payment header
 * or do not ask for HTML; browsers mark requests of `fetch` in
 * `Sec-Fetch-Mode`.
 */
export function isNavigation({ method, headers }: Request): boolean {
  const mode = headers.get('sec-fetch-mode') ?? 'navigate'
  return (
    (method === 'GET' || method === 'HEAD') &&
    mode === 'navigate' &&
    !headers.has(paymentHeader) &&
    !headers.has(oldPaymentHeader) &&
    (headers.get('accept') ?? '').split(',').some(isHtml)
  )
}

function isHtml(part: string): boolean {
  const [type = '', ...parameters] = part
    .trim()
    .toLowerCase()
    .split(/\s*;\s*/)
  return (
    type === 'text/html' && !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
  )
}
