import { bytesToHex, type Hash, stringToBytes } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { Keccak256 } from '../../core/keccak.js'
import type { OrdersContext } from '../context/types.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { takesPayment } from '../model/refusals.js'
import { showOrder } from '../model/showOrder.js'
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
  /** The payment to sign; absent when the order takes no payment now. */
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
    ({ buyerTokenHash }) => buyerTokenHash === hash,
  )
  const { order, attempt } = found
  return {
    order: showOrder(found),
    payment: takesPayment(found)
      ? draftedPaymentOf(context, order, attempt)
      : undefined,
  }
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
