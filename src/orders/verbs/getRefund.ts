import { checkMembers } from '../../core/checkMembers.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import type { OrdersContext } from '../context/types.js'
import { RefundNotFoundError } from '../model/errors.js'
import { refundIdOf } from '../model/refundRow.js'
import type { Refund } from '../model/refundTypes.js'
import { showRefund } from '../model/showRefund.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `getRefund`: the order and the refund to load. */
export type GetRefundParameters = { orderId: string; refundId: string }

/** Implements `getRefund` of `DestinationOrders`. */
export async function getRefund(
  context: OrdersContext,
  parameters: GetRefundParameters,
): Promise<Refund> {
  checkMembers(parameters, ['orderId', 'refundId'])
  const { orderId } = parameters
  const refundId = parseOrderId(parameters.refundId, 'refundId')
  const { refunds = [] } = await loadShown(context, orderId)
  const found = refunds.find(({ row }) => refundIdOf(row) === refundId)
  if (found) return showRefund(found.stored, found.row)
  throw new RefundNotFoundError({ orderId, refundId })
}
