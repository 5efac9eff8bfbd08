import { bytesToHex, type Hash, stringToBytes } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { Keccak256 } from '../../core/keccak.js'
import { loadShown } from '../model/orderLoader.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import { showOrder } from '../model/showOrder.js'
import type { DraftedPayment, Order, OrdersContext } from '../model/types.js'
import { takesPayment } from './checkAccept.js'

/** What `getForBuyer` takes. */
export type GetForBuyerParameters = {
  orderId: string
  /** As `draft` gave it. */
  buyerToken: string
}

const members: MembersOf<GetForBuyerParameters> = {
  orderId: true,
  buyerToken: true,
}

/** An order as the buyer who holds its token may see it. */
export type OrderForBuyer = {
  order: Order
  /** To be signed; absent when the order takes no payment as it stands. */
  payment: DraftedPayment | undefined
}

/** `getForBuyer` of `DestinationOrders`. */
export async function getForBuyer(
  context: OrdersContext,
  parameters: GetForBuyerParameters,
): Promise<OrderForBuyer> {
  checkMembers(parameters, members)
  const { orderId, buyerToken } = parameters
  // Anything but text is a wrong token, not a fault.
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
    payment: takesPayment(found) ? draftedPaymentOf(order, attempt) : undefined,
  }
}

/** Draws what a buyer proves to be the buyer with. */
export function drawBuyerToken(): string {
  return drawNonce().slice(2)
}

/** What is kept of a buyer's token; the token cannot be had from it. */
export function hashBuyerToken(buyerToken: string, keccak256: Keccak256): Hash {
  return bytesToHex(keccak256(stringToBytes(buyerToken)))
}
