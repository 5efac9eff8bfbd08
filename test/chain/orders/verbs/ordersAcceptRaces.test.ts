import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { openShop, pay, rowsOf } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

async function sell(shop: Awaited<ReturnType<typeof openShop>>) {
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  return { orderId: order.id, payment: await pay(buyer, payment) }
}

test('a payment whose order is voided while it is sealed is refused, and not kept', async () => {
  const voidIt: { orderId?: string } = {}
  const shop = await openShop(chain, {
    seal: {
      current: '',
      keyNames: [''],
      seal: async (secret) => {
        const { orderId } = voidIt
        if (orderId !== undefined) await shop.orders.void({ orderId })
        return secret
      },
      open: async (sealed) => sealed,
    },
  })
  const sold = await sell(shop)
  voidIt.orderId = sold.orderId
  expect(await shop.orders.accept(sold)).toMatchObject({ reason: 'notOpen' })
  const { order, attempts } = await rowsOf(shop, sold.orderId)
  expect(order).toMatchObject({ state: 'voided' })
  expect(attempts[0]?.signature).toBeUndefined()
})
