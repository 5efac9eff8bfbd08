import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import type { OrdersContext } from '../context/types.js'
import { hasTokenNonce, kindOf } from '../model/kindOf.js'
import { cancellationOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type { CancellationToSignVerdict } from '../model/types.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `cancellationToSign`: the order to cancel. */
export type CancellationToSignParameters = { orderId: string }

const members: MembersOf<CancellationToSignParameters> = {
  orderId: true,
}

/** Implements `cancellationToSign` of `DestinationOrders`. */
export async function cancellationToSign(
  context: OrdersContext,
  parameters: CancellationToSignParameters,
): Promise<CancellationToSignVerdict> {
  checkMembers(parameters, members)
  const { orderId } = parameters
  const found = await loadShown(context, orderId)
  const { order, attempt } = found
  const shown = showOrder(found)
  const isSpendable =
    ['stored', 'capturing', 'canceling', 'voided'].includes(order.state) &&
    attempt.spendable
  if (!isSpendable) return { ok: false, reason: 'notOpen', order: shown }
  if (!hasTokenNonce(kindOf(context, order)))
    return { ok: false, reason: 'unsupportedToken', order: shown }
  const cancellation = cancellationOf(context, order, attempt)
  return { ok: true, order: shown, cancellation }
}
