import { parseAmount } from '../../core/amount.js'
import { RequestRefusedError } from './errors.js'

/** How much a merchant may refund. */
export type RefundLimit = {
  /**
   * Most that may be refunded in one day (UTC), a decimal in whole tokens such
   * as `'500.00'`; `'0'` allows none. Counts all refunds that all merchants
   * together request over HTTP, for each recipient and token.
   */
  perDay: string
}

/**
 * Returns the limit of a merchant who may refund.
 *
 * @throws {@link RequestRefusedError} for any other.
 */
export function checkMayRefund(refunds: RefundLimit | undefined): RefundLimit {
  if (refunds) return refunds
  throw new RequestRefusedError('refundForbidden')
}

/**
 * Returns the limit in token units. If the text is malformed, the shop's
 * `authorize` is wrong and not the request, so the response is a server error.
 *
 * @throws {@link RequestRefusedError}
 */
export function parseRefundLimit(perDay: string, decimals: number): bigint {
  if (/^0(\.0+)?$/.test(perDay)) return 0n
  try {
    return parseAmount(perDay, decimals)
  } catch {
    throw new RequestRefusedError('internal')
  }
}
