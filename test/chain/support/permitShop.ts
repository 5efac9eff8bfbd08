import { permitCheckout, signPermitCancellation } from 'countersign/checkout'
import { createReadClient } from 'countersign/reads'
import type { PrivateKeyAccount } from 'viem/accounts'
import { contextOf } from '../../../src/orders/contextOf.js'
import { paymentOf } from '../../../src/orders/model/paymentOf.js'
import { type CeilingShop, openCeilingShop } from './ceilingShop.js'
import { chain, merchant, newAddress, send } from './checkoutDesk.js'
import { token } from './permitDesk.js'

const url = chain.urls.http
export const client = createReadClient({ chain: chain.chain, url })

export const openPermitShop = (
  changes: Parameters<typeof openCeilingShop>[1] = {},
): Promise<CeilingShop> =>
  openCeilingShop(chain, {
    tokens: [{ client, token }],
    wallets: [merchant],
    recipients: [],
    ...changes,
  })

/** A drafted permit, with the payer's signature. */
export async function signedOrder(
  { orders }: CeilingShop,
  payer: PrivateKeyAccount,
  fields: Partial<Parameters<CeilingShop['orders']['draft']>[0]> = {},
) {
  const { order, payment: drafted } = await orders.draft({
    atMost: '50.00',
    payer: payer.address,
    ...fields,
  })
  const payment = permitCheckout.parse(drafted)
  const signature = await signPermit(payer, payment)
  return { id: order.id, payment: { ...payment, signature } }
}

export async function storedPermit(
  shop: CeilingShop,
  payer: PrivateKeyAccount,
  fields: Parameters<typeof signedOrder>[2] = {},
) {
  const signed = await signedOrder(shop, payer, fields)
  const { id: orderId, payment } = signed
  const verdict = await shop.orders.accept({ orderId, payment })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return signed
}

/** The payment of an order, signed outside of the shop. */
export async function signedAgain(
  { orders }: CeilingShop,
  orderId: string,
  payer: PrivateKeyAccount,
) {
  const { context } = contextOf(orders)
  const stored = await context.loader(orderId, () => true)
  if (!stored) throw new Error('no order')
  const payment = paymentOf(context, stored.order, stored.attempt)
  const signature = await signPermit(payer, payment)
  return { payment: { ...payment, signature } }
}

type PermitPayment = Parameters<typeof permitCheckout.typedData>[0]

export function signPermit(payer: PrivateKeyAccount, payment: PermitPayment) {
  const typed = permitCheckout.typedData(payment)
  return payer.signTypedData(typed as Parameters<typeof payer.signTypedData>[0])
}

/** The call that ends a permit, a permit of zero. */
export async function cancelPermitCall(
  account: PrivateKeyAccount,
  payment: PermitPayment,
) {
  const parsed = permitCheckout.parse(payment)
  if (parsed.primaryType !== 'Permit' || !('checkout' in parsed))
    throw new Error('no permit')
  const wallet = { account, request: async () => '0x7a69' }
  return signPermitCancellation(wallet, {
    payment: parsed as Parameters<typeof signPermitCancellation>[1]['payment'],
  })
}

/** Ends a permit as its payer does. */
export async function cancelPermit(
  account: PrivateKeyAccount,
  payment: PermitPayment,
): Promise<void> {
  await send(newAddress(), await cancelPermitCall(account, payment))
}
