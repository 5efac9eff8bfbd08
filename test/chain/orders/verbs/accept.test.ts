import { encodePayment } from 'countersign'
import { deployDevToken } from 'countersign/devchain'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { chain, orders, price, sell } from '../../support/acceptShop.js'
import { fundedAccount } from '../../support/desk.js'
import { startEndpoint } from '../../support/endpoint.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  setOrder,
  shows,
  storedOrder,
} from '../../support/shop.js'

test('an accepted payment is stored after one HTTP request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const buyer = await fundedAccount(chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  expect(asked).toHaveLength(1)
  const signed = await pay(buyer, payment)
  const verdict = await shop.orders.accept({
    orderId: order.id,
    payment: encodePayment(signed),
  })
  expect(asked).toHaveLength(2)
  const stored = {
    ...order,
    state: 'stored',
    payer: signed.message.from,
    spendableUntil: order.validBefore,
  }
  expect(verdict).toEqual({
    ok: true,
    order: stored,
    at: {
      block: expect.any(BigInt),
      time: expect.any(BigInt),
      via: 'override',
      gasUsed: expect.any(BigInt),
    },
  })
  expect(await shop.orders.get({ orderId: order.id })).toEqual(stored)
  expect(await eventsOf(shop, order.id)).toEqual(['drafted', 'accepted'])
})

test('the same signature again is the same answer, without a request', async () => {
  const { url, asked } = await startEndpoint(chain.urls.http)
  const shop = await openShop(chain, { url })
  const { id, signed } = await storedOrder(chain, shop)
  const before = asked.length
  const upper = `0x${signed.signature.slice(2).toUpperCase()}` as Hex
  const bare = `${signed.signature.slice(0, -2)}${
    signed.signature.endsWith('1b') ? '00' : '01'
  }` as Hex
  for (const signature of [signed.signature, upper, bare])
    expect(
      await shop.orders.accept({
        orderId: id,
        payment: { ...signed, signature },
      }),
    ).toEqual({
      ok: true,
      order: await shop.orders.get({ orderId: id }),
      at: undefined,
    })
  await setOrder(shop, id, { state: 'captured' })
  expect(
    await shop.orders.accept({ orderId: id, payment: signed }),
  ).toMatchObject({ ok: true, order: { state: 'captured' } })
  expect(asked).toHaveLength(before)
  expect(await eventsOf(shop, id)).toEqual(['drafted', 'accepted'])
})

test('a payment in any letter case is the same payment', async () => {
  const { orderId, signed } = await sell()
  const { message, domain } = signed
  const upper = <text extends string>(text: text) =>
    `0x${text.slice(2).toUpperCase()}` as text
  const payment = {
    ...signed,
    domain: { ...domain, verifyingContract: upper(domain.verifyingContract) },
    message: {
      ...message,
      nonce: upper(message.nonce),
      from: upper(message.from),
      to: upper(message.to),
    },
    signature: upper(signed.signature),
  }
  expect(await orders.accept({ orderId, payment })).toMatchObject({ ok: true })
  expect(await orders.accept({ orderId, payment: signed })).toMatchObject({
    ok: true,
    at: undefined,
  })
})

test('a payment of a token with 18 decimals is accepted', async () => {
  const token = await deployDevToken(chain, { decimals: 18 })
  const shop = await openShop(chain, { tokens: [token] })
  const buyer = await fundedAccount(chain)
  await chain.mint({ to: buyer.address, value: 10n ** 18n, token })
  const { order, payment } = await shop.orders.draft({ token, amount: '1' })
  const signed = await pay(buyer, payment)
  expect(
    await shop.orders.accept({ orderId: order.id, payment: signed }),
  ).toMatchObject({ ok: true, order: { value: 10n ** 18n } })
})

test.each([
  ['manual', () => undefined],
  ['onAccept', () => 0n],
  ['beforeDeadline', (end: bigint) => end - 300n],
] as const)(
  'with policy %s it is due for sending when it says',
  async (capture, due) => {
    const shop = await openShop(chain, { policy: { capture } })
    const { id } = await storedOrder(chain, shop)
    const { order } = await rowsOf(shop, id)
    expect(order.sendDue).toBe(due(order.deadline))
    expect(order.lookDue).toBe(order.deadline - 300n)
  },
)

test('no record but the sealed one holds the signature', async () => {
  const shop = await openShop(chain, {
    seal: {
      current: 'sealed',
      keyNames: ['sealed'],
      seal: async (secret) => `sealed ${[...secret].reverse().join('')}`,
      open: async (sealed) => [...sealed.slice(7)].reverse().join(''),
    },
  })
  const { id, signed } = await storedOrder(chain, shop)
  const rows = await rowsOf(shop, id)
  expect(shows(rows, signed)).toBe(false)
  expect(rows.attempts[0]?.signature).toMatch(/^sealed /)
  const answers = [
    await shop.orders.get({ orderId: id }),
    await shop.orders.list(),
    await shop.orders.events(),
    await shop.orders.health(),
    await shop.orders.accept({ orderId: id, payment: signed }),
    await shop.orders.void({ orderId: id }),
  ]
  expect(shows(answers, signed)).toBe(false)
  expect(shows({ signed }, signed)).toBe(true)
})
