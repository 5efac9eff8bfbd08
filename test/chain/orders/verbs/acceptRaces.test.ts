import type { PaymentStore } from 'countersign/store'
import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { chain, price } from '../../support/acceptShop.js'
import { fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import { holdNode } from '../../support/heldNode.js'
import { openShop, pay, rowsOf } from '../../support/shop.js'

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

test('an accept takes no lease, reads once and writes once', async () => {
  const inner = memoryStore()
  const calls: string[] = []
  const counting: PaymentStore = {
    ...inner,
    read: (work) => {
      calls.push('read')
      return inner.read(work)
    },
    write: (work, options) => {
      calls.push('write')
      return inner.write(work, options)
    },
    takeLease: (wanted) => {
      calls.push(`lease ${wanted.key}`)
      return inner.takeLease(wanted)
    },
  }
  const shop = await openShop(chain, { store: counting })
  const buyer = await fundedAccount(chain, price)
  const rich = await fundedAccount(chain, 2n * price)
  const accept = async (payer: typeof buyer) => {
    const { order, payment } = await shop.orders.draft({ amount: '12.50' })
    const signed = await pay(payer, payment)
    calls.length = 0
    return shop.orders.accept({ orderId: order.id, payment: signed })
  }
  // The first accept also counts the open orders of the submitter.
  expect(await accept(buyer)).toMatchObject({ ok: true })
  expect(await accept(rich)).toMatchObject({ ok: true })
  expect(calls).toEqual(['read', 'write'])
})

test('two processes that judge the same payment store it once, and both say yes', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const one = await openShop(chain, { store, sellers })
  const other = await openShop(chain, { store, sellers })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await one.orders.draft({ amount: '12.50' })
  const signed = await pay(buyer, payment)
  const verdicts = await Promise.all(
    [one, other].map(({ orders }) =>
      orders.accept({ orderId: order.id, payment: signed }),
    ),
  )
  expect(verdicts.map(({ ok }) => ok)).toEqual([true, true])
  const { events } = await one.orders.events({ orderId: order.id })
  expect(events.map(({ type }) => type)).toEqual(['drafted', 'accepted'])
})

test('a payment that another process stored and captured meanwhile is accepted, not consumed', async () => {
  const store = memoryStore()
  const sellers = [await fundedAccount(chain)]
  const { client, hold, release } = holdNode(chain)
  const one = await openShop(chain, { store, sellers })
  const other = await openShop(chain, { store, sellers, client })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await other.orders.draft({ amount: '12.50' })
  const orderId = order.id
  const signed = await pay(buyer, payment)
  const { arrived } = hold('question')
  const late = other.orders.accept({ orderId, payment: signed })
  await arrived
  await one.orders.accept({ orderId, payment: signed })
  await one.orders.capture({ orderId })
  release()
  expect(await late).toMatchObject({ ok: true, order: { state: 'captured' } })
  expect((await rowsOf(one, orderId)).order.tries).toBe(0)
})

/** A store that does something right before the write after `arm`. */
function hurriedStore(
  hurry: () => Promise<void>,
): PaymentStore & { arm(): void } {
  const store = memoryStore()
  let isArmed = false
  return {
    ...store,
    arm: () => {
      isArmed = true
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
  store.arm()
  expect(await shop.orders.accept({ orderId, payment: signed })).toEqual({
    ok: false,
    reason: 'notOpen',
    details: { state: 'voided' },
  })
  const [attempt] = (await rowsOf(shop, orderId)).attempts
  expect(attempt).toMatchObject({ spendable: false, signature: undefined })
})
