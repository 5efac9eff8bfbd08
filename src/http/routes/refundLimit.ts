import { parseAmount } from '../../core/amount.js'
import { RequestRefusedError } from './errors.js'

/** How much a merchant may refund. */
export type RefundLimit = {
  /**
   * Most that may be refunded in one day (UTC), a decimal in whole tokens such
   * as `'500.00'`; `'0'` allows none. Applies to each recipient and token, and
   * counts the refunds that all merchants together request over HTTP.
   */
  perDay: string
}

/**
 * Returns the limit of a merchant who may refund.
 *
 * @throws {@link RequestRefusedError} when the merchant may not refund.
 *
 * @throws {@link RequestRefusedError} for any other.
 */
export function checkMayRefund(refunds: RefundLimit | undefined): RefundLimit {
  if (refunds) return refunds
  throw new RequestRefusedError('refundForbidden')
}

/**
 * Returns the limit in token units. A malformed limit is the fault of the
 * shop's `authorize`, not of the request, so it is answered with a server
 * error.
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
