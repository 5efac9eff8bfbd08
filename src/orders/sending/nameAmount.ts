import { parseAmount } from '../../core/amount.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { captureValueOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import { showOrder } from '../model/showOrder.js'
import type { CaptureResult } from '../model/types.js'
import { writeCaptureRequests } from './requestCaptures.js'

type Rejected = Extract<CaptureResult, { status: 'rejected' }>

/**
 * Stores the amount to capture of an order, and requests the capture in the
 * same database transaction. The amount is thus stored before anything is
 * signed, and the first of two callers decides it.
 *
 * @returns why the amount is refused; `undefined` if it is now the order's
 * amount.
 * @throws {@link InvalidAmountError} when the amount is malformed.
 * @throws {@link OrderNotFoundError} when there is no such order.
 */
export function nameAmount(
  context: OrdersContext,
  orderId: string,
  amount: string,
): Promise<Rejected | undefined> {
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    const { order } = found
    const named = parseAmount(amount, order.decimals)
    const refuse = (reason: Rejected['reason']): Rejected => ({
      status: 'rejected',
      order: showOrder(found),
      reason,
    })
    const known = captureValueOf(order)
    if (known !== undefined)
      return known === named ? undefined : refuse('otherAmount')
    if (named > order.value) return refuse('exceedsCeiling')
    const isOpen = order.state === 'stored' && order.requested !== 'cancel'
    if (!isOpen) return refuse('notOpen')
    await tables.orders.update([{ ...order, captureValue: named }])
    await writeCaptureRequests(context, tables, [orderId])
    return undefined
  })
}
