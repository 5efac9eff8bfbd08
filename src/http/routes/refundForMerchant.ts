import { InvalidFieldError, shown } from '../../core/errors.js'
import { contextOf } from '../../orders/engine.js'
import type { RefundBody } from '../schemas/bodySchemas.js'
import { answer } from './answer.js'
import { problem } from './problem.js'
import { checkMayRefund, parseRefundLimit } from './refundLimit.js'
import type { MerchantCall } from './route.js'

/**
 * Requests a refund. The merchant must be allowed to refund, and the amount
 * must be within the merchant's daily limit.
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
  const verdict = await contextOf(orders).refundWithinLimit(
    {
      orderId,
      refundId: body.refundId,
      amount: body.amount,
      reason: body.reason,
    },
    (decimals) => parseRefundLimit(perDay, decimals),
  )
  if (!verdict.ok) return problem(verdict.reason)
  return answer(200, { refund: verdict.refund, order: verdict.order })
}

/**
 * Refuses the refund ids `.` and `..`. Browsers and fetch remove these path
 * segments from a URL, so no request could reach such a refund.
 */
function checkReachable(refundId: string): void {
  if (refundId === '.' || refundId === '..')
    throw new InvalidFieldError(
      'refundId',
      shown(refundId),
      'an id that can be in a path, unlike "." and ".."',
    )
}
