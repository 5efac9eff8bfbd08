import type { OrderRecord } from 'countersign/store'
import { expect, test } from 'vitest'
import { newAccount } from '../../support/desk.js'
import {
  eventsOf,
  pay,
  rowsOf,
  setOrder,
  storedOrder,
} from '../../support/shop.js'
import { chain, orders, paid, relaying, shop } from '../../support/voidShops.js'

type Fields = Partial<OrderRecord>

test('a drafted order is voided and takes no payment', async () => {
  const { order, payment } = await orders.draft({ amount: '12.50' })
  const orderId = order.id
  expect(await orders.void({ orderId })).toEqual({
    ok: true,
    order: { ...order, state: 'voided' },
    spendableUntil: undefined,
  })
  const signed = await pay(newAccount(), payment)
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    reason: 'notOpen',
  })
  expect((await rowsOf(shop, orderId)).order.lookDue).toBe(order.validBefore)
  expect(await eventsOf(shop, orderId)).toEqual(['drafted', 'voided'])
})

test('a voided payment can be spent as long as its signature lives', async () => {
  const { id, signed } = await storedOrder(chain, shop)
  await setOrder(shop, id, { requested: 'capture', sendDue: 0n })
  const { validBefore } = signed.message
  const verdict = await orders.void({ orderId: id })
  expect(verdict).toMatchObject({
    ok: true,
    order: {
      state: 'voided',
      requested: undefined,
      spendableUntil: validBefore,
    },
    spendableUntil: validBefore,
  })
  expect(await orders.void({ orderId: id })).toEqual(verdict)
  expect((await rowsOf(shop, id)).order).toMatchObject({
    sendDue: undefined,
    lookDue: validBefore,
  })
  const { events } = await orders.events({ limit: 1_000 })
  expect(events.filter(({ orderId }) => orderId === id).at(-1)).toMatchObject({
    type: 'voided',
    sequence: 3,
    data: { spendableUntil: String(validBefore) },
  })
})

test.each<[Fields, string, string | undefined]>([
  [{ state: 'capturing' }, 'captureInFlight', 'void'],
  [{ state: 'capturing', requested: 'cancel' }, 'captureInFlight', 'cancel'],
  [{ state: 'captured' }, 'notOpen', undefined],
  [{ state: 'canceled' }, 'notOpen', undefined],
  [{ state: 'expired' }, 'notOpen', undefined],
  [{ state: 'consumed' }, 'notOpen', undefined],
])(
  'an order that is %o is not voided: %s',
  async (fields, reason, requested) => {
    const { id } = await storedOrder(chain, shop)
    await setOrder(shop, id, fields)
    const verdict = await orders.void({ orderId: id })
    expect(verdict).toMatchObject({
      ok: false,
      reason,
      order: fields.requested ? {} : { requested },
    })
    expect((await rowsOf(shop, id)).order).toMatchObject({
      state: fields.state,
      requested,
    })
  },
)

test('what is being canceled is voided at once, and its cancellation goes on', async () => {
  const { id, signed } = await storedOrder(chain, shop)
  await setOrder(shop, id, { state: 'canceling', requested: 'cancel' })
  const { validBefore } = signed.message
  const verdict = await orders.void({ orderId: id })
  expect(verdict).toMatchObject({
    ok: true,
    spendableUntil: validBefore,
    order: { state: 'voided', requested: 'cancel' },
  })
  expect(await orders.void({ orderId: id })).toEqual(verdict)
  expect((await rowsOf(shop, id)).order).toMatchObject({
    sendDue: undefined,
    lookDue: validBefore,
  })
  expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted', 'voided'])
})

test('a cancellation on its way out survives a void', async () => {
  const { id, cancellation } = await paid(relaying)
  await relaying.orders.acceptCancellation({ orderId: id, cancellation })
  expect(await relaying.orders.void({ orderId: id })).toMatchObject({
    ok: true,
    order: { state: 'voided', requested: 'cancel' },
  })
  expect((await rowsOf(relaying, id)).order.sendDue).toBe(0n)
})
