import { InvalidFieldError, shown } from '../../core/errors.js'
import type { RefundOrderParameters } from '../../orders/engine.js'
import { contextOf } from '../../orders/engine.js'
import type { RefundBody } from '../schemas/bodySchemas.js'
import { answer } from './answer.js'
import { problem } from './problem.js'
import { checkMayRefund, parseRefundLimit } from './refundLimit.js'
import type { MerchantCall } from './route.js'

/**
 * Requests a refund for a merchant who may refund, within the merchant's limit.
 *
 * @throws {@link RequestRefusedError} and every error of `refund`.
 */
export async function refundForMerchant({
  orders,
  orderId,
  body,
  refunds,
}: MerchantCall & { body: RefundBody }): Promise<Response> {
  const { perDay } = checkMayRefund(refunds)
  checkReachable(body.refundId)
  const parameters: RefundOrderParameters = {
    orderId,
    refundId: body.refundId,
    amount: body.amount,
    reason: body.reason,
  }
  const verdict = await contextOf(orders).refundWithinLimit(
    parameters,
    (decimals) => parseRefundLimit(perDay, decimals),
  )
  if (!verdict.ok) return problem(verdict.reason)
  return answer(200, { refund: verdict.refund, order: verdict.order })
}

/**
 * Browsers and fetch remove the path segments `.` and `..` from a URL, so no
 * request could ever name this refund.
 */
function checkReachable(refundId: string): void {
  if (refundId === '.' || refundId === '..')
    throw new InvalidFieldError(
      'refundId',
      shown(refundId),
      'an id that can be in a path, unlike "." and ".."',
    )
}
