import { parseAmount } from '../../core/amount.js'
import { InvalidFieldError } from '../../core/errors.js'
import { contextOf } from '../../orders/contextOf.js'
import type { RefundOrderParameters } from '../../orders/verbs/refundOrder.js'
import { refundWithinLimit } from '../../orders/verbs/refundWithinLimit.js'
import type { RefundBody } from '../schemas/bodySchemas.js'
import type { RefundLimit } from '../types.js'
import { answer } from './answer.js'
import { RequestRefusedError } from './errors.js'
import { problem } from './problem.js'
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
  const { context, instance } = contextOf(orders)
  const parameters: RefundOrderParameters = {
    orderId,
    refundId: body.refundId,
    amount: body.amount,
    reason: body.reason,
  }
  const verdict = await instance.perform('refund', parameters, () =>
    refundWithinLimit(context, parameters, (decimals) =>
      parseLimit(perDay, decimals),
    ),
  )
  if (!verdict.ok) return problem(verdict.reason)
  return answer(200, { refund: verdict.refund, order: verdict.order })
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

/** URLs remove these segments, so no route could reach the refund. */
function checkReachable(refundId: string): void {
  if (refundId === '.' || refundId === '..')
    throw new InvalidFieldError(
      'refundId',
      refundId,
      'an id that can be in a path',
    )
}

/** A malformed limit is an error of `authorize`, not of the request. */
function parseLimit(perDay: string, decimals: number): bigint {
  try {
    return parseAmount(perDay, decimals)
  } catch {
    throw new RequestRefusedError('internal')
  }
}
