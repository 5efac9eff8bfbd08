import type { PaymentStore } from 'countersign/store'
import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { chain, price } from '../../support/acceptShop.js'
import { fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { openShop, pay, rowsOf, storedOrder } from '../../support/shop.js'

test('an order is accepted by one at a time', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const accept = () =>
    shop.orders.accept({ orderId: order.id, payment: signed })
  const verdicts = await Promise.all([accept(), accept(), accept()])
  expect(verdicts.map((it) => (it.ok ? 'ok' : it.reason)).sort()).toEqual([
    'acceptInFlight',
    'acceptInFlight',
    'ok',
  ])
  expect(asked).toHaveLength(2)
  expect(await accept()).toMatchObject({ ok: true })
})

test('a lease that cannot be given back takes nothing from who was accepted', async () => {
  const inner = memoryStore()
  const releaseLease = async () => {
    throw new TypeError('the database is gone')
  }
  const shop = await openShop(chain, { store: { ...inner, releaseLease } })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const accept = () =>
    shop.orders.accept({ orderId: order.id, payment: signed })
  expect(await accept()).toMatchObject({ ok: true })
  expect(await accept()).toMatchObject({ ok: true })
})

test('an order that was accepted leaves no lease behind', async () => {
  const inner = memoryStore()
  const keys: string[] = []
  const takeLease: PaymentStore['takeLease'] = (wanted) => {
    keys.push(wanted.key)
    return inner.takeLease(wanted)
  }
  const shop = await openShop(chain, { store: { ...inner, takeLease } })
  const { id } = await storedOrder(chain, shop)
  expect(keys).toEqual([`accept:${id}`])
  expect(await inner.read((it) => it.getLease(`accept:${id}`))).toBeUndefined()
})

/** A store that does something right before a write. */
function hurriedStore(hurry: () => Promise<void>): PaymentStore {
  const store = memoryStore()
  let isArmed = false
  return {
    ...store,
    takeLease: async (wanted) => {
      isArmed = true
      return store.takeLease(wanted)
    },
    write: async (work, options) => {
      if (isArmed) {
        isArmed = false
        await hurry()
      }
      return store.write(work, options)
    },
  }
}

test('an order voided while its payment is judged stays voided', async () => {
  let orderId = ''
  const store = hurriedStore(async () => {
    await shop.orders.void({ orderId })
  })
  const shop = await openShop(chain, { store })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  orderId = order.id
  const signed = await pay(buyer, payment)
  expect(await shop.orders.accept({ orderId, payment: signed })).toEqual({
    ok: false,
    reason: 'notOpen',
    details: { state: 'voided' },
  })
  const [attempt] = (await rowsOf(shop, orderId)).attempts
  expect(attempt).toMatchObject({ spendable: false, signature: undefined })
})
