import type { AnySignedPayment } from '../../core/types.js'
import { signedPaymentOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Opens the seals of all payments first, so that their rehearsals fit into one
 * request.
 */
export async function openSeals(
  context: OrdersContext,
  { orders }: SubmitterState,
  storedOrders: readonly StoredOrder[],
): Promise<void> {
  for (const { order, attempt } of storedOrders) {
    const isSealed = attempt.signature !== undefined
    if (!isSealed || order.requested === 'cancel') continue
    if (orders.opening(attempt)) continue
    const payment = signedPaymentOf(context, order, attempt)
    // `takePayment` reports the failure.
    payment.catch(() => undefined)
    orders.rememberOpening(attempt, payment)
  }
  await Promise.allSettled(
    storedOrders.map(({ attempt }) => orders.opening(attempt)),
  )
}

/**
 * Returns the payment of an attempt and forgets it, so that it does not stay in
 * memory.
 */
export function takePayment(
  context: OrdersContext,
  { orders }: SubmitterState,
  { order, attempt }: StoredOrder,
): Promise<AnySignedPayment | undefined> {
  const ahead = orders.opening(attempt)
  orders.forgetOpening(attempt)
  return ahead ?? signedPaymentOf(context, order, attempt)
}
