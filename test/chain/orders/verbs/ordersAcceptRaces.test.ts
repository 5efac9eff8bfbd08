import { startDevChain } from 'countersign/devchain'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { eventsOf, openShop, pay, rowsOf } from '../../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const price = 12_500_000n

/** A store that does something before it gives a lease, or seals its write. */
function interrupted() {
  const inner = memoryStore()
  const before: { lease?: () => Promise<unknown> } = {}
  const store: PaymentStore = {
    ...inner,
    takeLease: async (request) => {
      const { lease } = before
      delete before.lease
      if (request.key.startsWith('accept:')) await lease?.()
      return inner.takeLease(request)
    },
  }
  return { store, before }
}

async function sell(shop: Awaited<ReturnType<typeof openShop>>) {
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  return { orderId: order.id, payment: await pay(buyer, payment) }
}

test('a payment that was accepted while its second copy waited for the lease is not judged twice', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const { store, before } = interrupted()
  const shop = await openShop(chain, { store, url })
  const sold = await sell(shop)
  const requests = asked.length
  before.lease = () => shop.orders.accept(sold)
  expect(await shop.orders.accept(sold)).toMatchObject({
    ok: true,
    at: undefined,
  })
  expect(asked).toHaveLength(requests + 1)
  expect(await eventsOf(shop, sold.orderId)).toEqual(['drafted', 'accepted'])
})

test('a payment whose order was voided before the lease is refused without a request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const { store, before } = interrupted()
  const shop = await openShop(chain, { store, url })
  const sold = await sell(shop)
  const requests = asked.length
  before.lease = () => shop.orders.void({ orderId: sold.orderId })
  expect(await shop.orders.accept(sold)).toMatchObject({ reason: 'notOpen' })
  expect(asked).toHaveLength(requests)
})

test('a payment whose order is voided while it is sealed is refused, and not kept', async () => {
  const voidIt: { orderId?: string } = {}
  const shop = await openShop(chain, {
    seal: {
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
