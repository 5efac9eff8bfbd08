import {
  type Cancellation,
  decodePayment,
  encodePayment,
  type Finality,
  type Payment,
  type SignedCancellation,
  type SignedPayment,
} from 'countersign'
import type { OrderState } from 'countersign/store'
import type { Address, Hash } from 'viem'
import { askJson } from './askShop.js'

/** An order as its buyer is shown it. */
export type BuyerOrder = {
  amount: string
  token: Address
  recipient: Address
  /** Unix seconds as decimals, both exclusive. */
  window: { validAfter: string; validBefore: string }
  state: OrderState
  transaction: { hash: Hash; finality: Finality } | null
}

/** An order, and what proves to be its buyer. */
export type OrderAccess = { orderId: string; token: string }

export function pathOf({ orderId }: Pick<OrderAccess, 'orderId'>): string {
  return `/payments/orders/${encodeURIComponent(orderId)}`
}

/** The payment to sign, with the one who signs filled in. */
export async function getPayment(
  access: OrderAccess,
): Promise<(from: Address) => Payment> {
  const { payment } = await askJson<{
    payment: { message: Record<string, unknown> }
  }>(`${pathOf(access)}/payment`, access)
  return (from) => {
    const message = { from: from.toLowerCase(), ...payment.message }
    return decodePayment({ ...payment, message })
  }
}

export function postPayment(
  access: OrderAccess,
  payment: SignedPayment,
): Promise<BuyerOrder> {
  const { token } = access
  const body = encodePayment(payment)
  return askJson(`${pathOf(access)}/payment`, { token, body })
}

export async function getCancellation(
  access: OrderAccess,
): Promise<Cancellation> {
  const { cancellation } = await askJson<{ cancellation: Cancellation }>(
    `${pathOf(access)}/cancellation`,
    access,
  )
  return cancellation
}

export async function postCancellation(
  access: OrderAccess,
  cancellation: SignedCancellation,
): Promise<BuyerOrder> {
  const { token } = access
  const body = JSON.stringify(cancellation)
  const { order } = await askJson<{ order: BuyerOrder }>(
    `${pathOf(access)}/cancellation`,
    { token, body },
  )
  return order
}
