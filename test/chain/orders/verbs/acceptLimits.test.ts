import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { chain, orders, price, sell, shop } from '../../support/acceptShop.js'
import { fundedAccount, newAccount } from '../../support/desk.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  setOrder,
} from '../../support/shop.js'

test('no more is accepted than the submitter has gas for, at no one’s cost', async () => {
  const seller = newAccount()
  const gasPrice = await chain.clients.public.getGasPrice()
  await chain.clients.test.setBalance({
    address: seller.address,
    value: 3n * 130_000n * gasPrice,
  })
  const shop = await openShop(chain, { sellers: [seller] })
  const buyer = await fundedAccount(chain, 100n * price)
  const reasons: string[] = []
  for (let at = 0; at < 5; at++) {
    const { order, payment } = await shop.orders.draft({ amount: '12.50' })
    const signed = await pay(buyer, payment)
    const orderId = order.id
    const verdict = await shop.orders.accept({ orderId, payment: signed })
    reasons.push(verdict.ok ? 'ok' : verdict.reason)
    expect((await rowsOf(shop, orderId)).order.tries).toBe(0)
  }
  expect(reasons).toEqual([
    'ok',
    'ok',
    'ok',
    'submitterFunds',
    'submitterFunds',
  ])
})

test('what one payer has open never exceeds the payer’s balance', async () => {
  const buyer = await fundedAccount(chain, 7n * price + price / 2n)
  const sold = await Promise.all(
    Array.from({ length: 50 }, () => sell({ buyer })),
  )
  const verdicts = await Promise.all(
    sold.map(({ orderId, signed }) =>
      orders.accept({ orderId, payment: signed }),
    ),
  )
  expect(verdicts.filter(({ ok }) => ok)).toHaveLength(7)
  for (const verdict of verdicts)
    if (!verdict.ok)
      expect(verdict).toEqual({
        ok: false,
        reason: 'exposureTooHigh',
        details: {
          at: expect.any(Object),
          balance: 7n * price + price / 2n,
          open: 7n * price,
          value: price,
        },
      })
})

test('what was captured since the balance was read still counts', async () => {
  const buyer = await fundedAccount(chain, price)
  let capture: (() => Promise<unknown>) | undefined
  // Sealing comes after the chain was asked, and before the write.
  const seal = async (secret: string) => {
    const now = capture
    capture = undefined
    await now?.()
    return secret
  }
  const open = async (sealed: string) => sealed
  const names = { current: '', keyNames: [''] }
  const shop = await openShop(chain, { seal: { ...names, seal, open } })
  const [first, second] = await Promise.all([
    shop.orders.draft({ amount: '12.50' }),
    shop.orders.draft({ amount: '12.50' }),
  ])
  const accept = async ({ order, payment }: typeof first) =>
    shop.orders.accept({
      orderId: order.id,
      payment: await pay(buyer, payment),
    })
  expect(await accept(first)).toMatchObject({ ok: true })
  const results: unknown[] = []
  capture = async () => {
    results.push(await shop.orders.capture({ orderId: first.order.id }))
  }
  expect(await accept(second)).toMatchObject({
    reason: 'exposureTooHigh',
    details: { balance: price, open: price, value: price },
  })
  expect(results).toMatchObject([{ status: 'captured' }])
})

test('a voided payment counts as long as it can be spent', async () => {
  const buyer = await fundedAccount(chain, price)
  const first = await sell({ buyer, window: 60n })
  await orders.accept({ orderId: first.orderId, payment: first.signed })
  await orders.void({ orderId: first.orderId })
  const second = await sell({ buyer })
  const accept = () =>
    orders.accept({ orderId: second.orderId, payment: second.signed })
  expect(await accept()).toMatchObject({ reason: 'exposureTooHigh' })
  await chain.warp(60)
  expect(await accept()).toMatchObject({ ok: true })
})

test('shops of one store count what a payer has open in both', async () => {
  const store = memoryStore()
  const buyer = await fundedAccount(chain, price)
  const shops = [
    await openShop(chain, { store }),
    await openShop(chain, { store }),
  ]
  const reasons: string[] = []
  for (const { orders } of shops) {
    const { order, payment } = await orders.draft({ amount: '12.50' })
    const signed = await pay(buyer, payment)
    const verdict = await orders.accept({ orderId: order.id, payment: signed })
    reasons.push(verdict.ok ? 'ok' : verdict.reason)
  }
  expect(reasons).toEqual(['ok', 'exposureTooHigh'])
})

test('with one order of a payer held the next ones wait as well', async () => {
  const buyer = await fundedAccount(chain, 3n * price)
  const [one, two] = [await sell({ buyer }), await sell({ buyer })]
  await orders.accept({ orderId: one.orderId, payment: one.signed })
  await setOrder(shop, one.orderId, { needsReview: true })
  expect(
    await orders.accept({ orderId: two.orderId, payment: two.signed }),
  ).toMatchObject({
    ok: true,
    order: { needsReview: true, reason: 'needsReview' },
  })
  expect(await eventsOf(shop, two.orderId)).toEqual([
    'drafted',
    'accepted',
    'needsReview',
  ])
})
