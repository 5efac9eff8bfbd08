import { parseAmount } from 'countersign'
import type { PrivateKeyAccount } from 'viem/accounts'
import { products } from '../../../examples/shop/products.js'
import type { Shop } from '../../../examples/shop/server/startShop.js'
import { pay } from './shop.js'

export type PlaceOrderParameters = {
  account: PrivateKeyAccount
  /** One of the shop's products. */
  product: 'house-blend' | 'pour-over-kit'
  amount: string
}

/** An order that somebody else paid, without a browser. */
export async function placeOrder(
  { orders, chain }: Shop,
  { account, product, amount }: PlaceOrderParameters,
): Promise<string> {
  const description = products.find(({ id }) => id === product)?.name ?? ''
  const metadata = { description, capture: 'onShipping' }
  const { order, payment } = await orders.draft({ amount, metadata })
  await chain.mint({ to: account.address, value: parseAmount(amount, 6) })
  const verdict = await orders.accept({
    orderId: order.id,
    payment: await pay(account, payment),
  })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return order.id
}
