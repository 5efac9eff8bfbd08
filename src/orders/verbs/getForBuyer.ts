import { bytesToHex, type Hash, stringToBytes } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { Keccak256 } from '../../core/keccak.js'
import type { OrdersContext } from '../context/types.js'
import { hasTokenNonce, kindOf } from '../model/kindOf.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { takesPayment } from '../model/refusals.js'
import { traitsOf } from '../model/roles.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AnyDraftedPayment, Order } from '../model/types.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `getForBuyer`: an order and the token of its buyer. */
export type GetForBuyerParameters = {
  orderId: string
  /** The `buyerToken` that `draft` returned for this order. */
  buyerToken: string
}

/** What a buyer who has the order's token may see. */
export type OrderForBuyer = {
  order: Order
  /**
   * The payment to sign, or a signed permit that its payer can still cancel,
   * with `signPermitCancellation`. Absent when the order takes no payment now.
   */
  payment: AnyDraftedPayment | undefined
}

/** Implements `getForBuyer` of `DestinationOrders`. */
export async function getForBuyer(
  context: OrdersContext,
  parameters: GetForBuyerParameters,
): Promise<OrderForBuyer> {
  checkMembers(parameters, ['orderId', 'buyerToken'])
  const { orderId, buyerToken } = parameters
  // Treat a value that is not a string as a wrong token: it gets the same
  // answer, not another error.
  const hash = hashBuyerToken(
    typeof buyerToken === 'string' ? buyerToken : '',
    context.keccak256,
  )
  const found = await loadShown(
    context,
    orderId,
    (order) => order.buyerTokenHash === hash && traitsOf(order).hasBuyer,
  )
  const { order, attempt } = found
  const isWanted = takesPayment(found) || isOpenPermit(context, found)
  return {
    order: showOrder(found),
    payment: isWanted ? draftedPaymentOf(context, order, attempt) : undefined,
  }
}

/**
 * True for a signed permit that can still be captured. Nothing but a permit of
 * zero cancels it, which the payer builds from the payment.
 */
function isOpenPermit(
  context: Pick<OrdersContext, 'kinds'>,
  { order, attempt }: StoredOrder,
): boolean {
  return (
    ['stored', 'capturing', 'voided'].includes(order.state) &&
    attempt.spendable &&
    !hasTokenNonce(kindOf(context, order))
  )
}

/**
 * Creates the random token by which the buyer proves to be the buyer of this
 * order.
 */
export function drawBuyerToken(): string {
  return drawNonce().slice(2)
}

/**
 * Hashes a buyer's token. The store keeps only the hash, so a stolen database
 * contains no usable token.
 */
export function hashBuyerToken(buyerToken: string, keccak256: Keccak256): Hash {
  return bytesToHex(keccak256(stringToBytes(buyerToken)))
}
