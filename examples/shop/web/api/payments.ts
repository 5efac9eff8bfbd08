import type { Cancellation, Finality, SignedCancellation } from 'countersign'
import type { OrderState } from 'countersign/store'
import type { Address, Hash } from 'viem'
import { askJson } from './askShop.js'

/** An order as its buyer is shown it. */
export type BuyerOrder = {
  amount: string
  /** The ceiling; absent if the amount is exact. */
  atMost?: string | undefined
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

/** The payment to sign as JSON, with the one who signs filled in. */
export async function getPayment(
  access: OrderAccess,
): Promise<(from: Address) => unknown> {
  const { payment } = await askJson<{
    payment: { message: Record<string, unknown> }
  }>(`${pathOf(access)}/payment`, access)
  return (from) => {
    const message = { from: from.toLowerCase(), ...payment.message }
    return { ...payment, message }
  }
}

/** Hands in a signed payment as JSON. */
export function postPayment(
  access: OrderAccess,
  body: string,
): Promise<BuyerOrder> {
  const { token } = access
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
