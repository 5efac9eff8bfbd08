import { bytesToHex, type Hash, stringToBytes } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { Keccak256 } from '../../core/keccak.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type { AnyDraftedPayment, Order, OrdersContext } from '../model/types.js'
import { takesPayment } from './checkAccept.js'
import { loadShown } from './orderLoader.js'

/** Parameters of `getForBuyer`. */
export type GetForBuyerParameters = {
  orderId: string
  /** The token that `draft` returned. */
  buyerToken: string
}

const members: MembersOf<GetForBuyerParameters> = {
  orderId: true,
  buyerToken: true,
}

/** The part of an order that a buyer with its token may see. */
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
  checkMembers(parameters, members)
  const { orderId, buyerToken } = parameters
  // A value that is not text is a wrong token, not an error.
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

/** Creates a random token that proves who the buyer is. */
export function drawBuyerToken(): string {
  return drawNonce().slice(2)
}

/** Hashes a buyer's token, because only the hash is stored. */
export function hashBuyerToken(buyerToken: string, keccak256: Keccak256): Hash {
  return bytesToHex(keccak256(stringToBytes(buyerToken)))
}
