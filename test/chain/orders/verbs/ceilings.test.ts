import { memoryStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import {
  acceptCeiling,
  draftCeiling,
  openCeilingShop,
  parseCheckout,
  startCeilingChain,
  storedCeiling,
} from '../../support/ceilingShop.js'
import { newAccount } from '../../support/desk.js'
import { balanceOf } from '../../support/refundDesk.js'
import { eventsOf, openShop, pay } from '../../support/shop.js'
import { sign } from '../../support/signing.js'
import { revokeOrder } from '../../support/specOrders.js'

const chain = await startCeilingChain()
afterAll(() => chain.stop())

async function collect<piece>(pieces: AsyncIterable<piece>): Promise<piece[]> {
  const all: piece[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

test('the books have what was captured, and a refund is at most that', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  await shop.orders.capture({ orderId: id, amount: '42.10' })
  const rows = await collect(shop.orders.ledger({ transfers: true }))
  const captured = { type: 'capture', orderId: id, gross: 42_100_000n }
  expect(rows).toContainEqual(expect.objectContaining(captured))
  expect(rows.map(({ type }) => type)).not.toContain('transfer')
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    refundable: 42_100_000n,
  })
  expect(
    await shop.orders.refund({ orderId: id, refundId: 'a', amount: '42.11' }),
  ).toMatchObject({ ok: false, reason: 'exceedsCaptured' })
})

test('an order with a ceiling is drafted, signed, captured for less, and proven with the amount', async () => {
  const shop = await openCeilingShop(chain)
  const { id, payer } = await storedCeiling(chain, shop)
  const stored = await shop.orders.get({ orderId: id })
  expect(stored).toMatchObject({
    state: 'stored',
    kind: 'checkout',
    atMost: '50',
    amount: '50',
  })

  const result = await shop.orders.capture({ orderId: id, amount: '42.10' })
  expect(result).toMatchObject({
    status: 'captured',
    order: { amount: '42.1', value: 42_100_000n, atMost: '50' },
  })
  expect(await balanceOf(chain, shop.seller)).toBe(42_100_000n)
  expect(await balanceOf(chain, payer.address)).toBe(57_900_000n)
  expect(await shop.orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 1, value: 42_100_000n } }],
  })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'captureRequested',
    'capturing',
    'captured',
  ])
})

test('the amount of a second capture is refused, and the first one stays', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  await shop.orders.capture({ orderId: id, amount: '42.10' })

  expect(
    await shop.orders.capture({ orderId: id, amount: '42.11' }),
  ).toMatchObject({ status: 'rejected', reason: 'otherAmount' })
  expect(
    await shop.orders.capture({ orderId: id, amount: '42.1' }),
  ).toMatchObject({ status: 'captured' })
  expect(await shop.orders.capture({ orderId: id })).toMatchObject({
    status: 'captured',
    order: { amount: '42.1' },
  })
  expect(await balanceOf(chain, shop.seller)).toBe(42_100_000n)
})

test('of two amounts at the same time one is captured, and the other refused', async () => {
  const store = memoryStore()
  const shop = await openCeilingShop(chain, { store })
  const { id } = await storedCeiling(chain, shop)
  const results = await Promise.all(
    ['30', '40'].map((amount) => shop.orders.capture({ orderId: id, amount })),
  )
  expect([...results.map(({ status }) => status)].sort()).toEqual([
    'captured',
    'rejected',
  ])
  const [captured] = results.filter(({ status }) => status === 'captured')
  expect(await balanceOf(chain, shop.seller)).toBe(captured?.order.value)
})

test('a capture without an amount, above the ceiling, or of nothing is refused, and nothing is on record', async () => {
  const shop = await openCeilingShop(chain)
  const { id } = await storedCeiling(chain, shop)
  const { capture } = shop.orders
  await expect(capture({ orderId: id })).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: { field: 'amount' },
  })
  await expect(capture({ orderId: id, amount: '0' })).rejects.toMatchObject({
    name: 'InvalidAmountError',
  })
  expect(await capture({ orderId: id, amount: '50.000001' })).toMatchObject({
    status: 'rejected',
    reason: 'exceedsCeiling',
  })
  expect(await shop.orders.get({ orderId: id })).toMatchObject({
    state: 'stored',
    amount: '50',
    requested: undefined,
  })
})

test('an exact order takes its own amount only', async () => {
  const shop = await openShop(chain)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const { payer } = await draftCeiling(chain, await openCeilingShop(chain))
  const signed = await pay(payer, payment)
  await shop.orders.accept({ orderId: order.id, payment: signed })
  expect(
    await shop.orders.capture({ orderId: order.id, amount: '12' }),
  ).toMatchObject({ status: 'rejected', reason: 'otherAmount' })
  expect(
    await shop.orders.capture({ orderId: order.id, amount: '12.5' }),
  ).toMatchObject({ status: 'captured' })
})

test('an operator captures for a recipient without a wallet', async () => {
  const till = newAccount().address.toLowerCase() as `0x${string}`
  const shop = await openCeilingShop(chain, { till })
  const { id, payment } = await storedCeiling(chain, shop, {
    recipient: till,
  })
  expect(payment.checkout).toMatchObject({
    recipient: till,
    operator: shop.operator,
  })
  expect(await shop.orders.capture({ orderId: id, amount: '7' })).toMatchObject(
    { status: 'captured', proof: { submitter: shop.operator } },
  )
  expect(await balanceOf(chain, till)).toBe(7_000_000n)
})

test('a payment for another operator, ceiling, salt or payer is refused', async () => {
  const shop = await openCeilingShop(chain)
  const drafted = await draftCeiling(chain, shop)
  const other = await draftCeiling(chain, shop, { atMost: '60.00' })
  const foreign = await draftCeiling(chain, await openCeilingShop(chain))
  const { orders } = shop
  for (const { payer, payment } of [other, foreign]) {
    const signature = await sign(payer, payment)
    const verdict = await orders.accept({
      orderId: drafted.id,
      payment: { ...payment, signature },
    })
    expect(verdict.ok).toBe(false)
  }
  const bare = await pay(drafted.payer, {
    ...drafted.payment,
    primaryType: 'ReceiveWithAuthorization',
  })
  await expect(
    orders.accept({ orderId: drafted.id, payment: bare }),
  ).rejects.toMatchObject({ name: 'InvalidFieldError' })
  expect((await acceptCeiling(shop, drafted)).ok).toBe(true)
})

test('the payer cancels a ceiling, and nothing can be captured', async () => {
  const shop = await openCeilingShop(chain, {
    policy: { relayCancellations: 'always' },
  })
  const { id, payer } = await storedCeiling(chain, shop)
  const cancellation = await revokeOrder(shop, id, payer)
  const verdict = await shop.orders.acceptCancellation({
    orderId: id,
    cancellation,
  })
  expect(verdict.ok).toBe(true)
  const ends = new AbortController()
  const running = shop.orders.run({ signal: ends.signal })
  await expect
    .poll(async () => (await shop.orders.get({ orderId: id })).state, {
      timeout: 30_000,
    })
    .toBe('canceled')
  ends.abort()
  await running
  expect(await shop.orders.capture({ orderId: id, amount: '1' })).toMatchObject(
    { status: 'rejected' },
  )
})

test('a ceiling is voided, and what it holds counts against the payer until it ends', async () => {
  const shop = await openCeilingShop(chain)
  const { id, payer } = await storedCeiling(chain, shop)
  expect((await shop.orders.void({ orderId: id })).ok).toBe(true)
  const next = await shop.orders.draft({
    atMost: '50.01',
    payer: payer.address,
  })
  const payment = parseCheckout(next.payment)
  const signature = await sign(payer, payment)
  expect(
    await shop.orders.accept({
      orderId: next.order.id,
      payment: { ...payment, signature },
    }),
  ).toMatchObject({ ok: false, reason: 'exposureTooHigh' })
})

test('a ceiling is offered again only until it was signed', async () => {
  const shop = await openCeilingShop(chain)
  const drafted = await draftCeiling(chain, shop)
  const again = await shop.orders.reauthorize({ orderId: drafted.id })
  if (!again.ok) throw new Error(again.reason)
  const payment = parseCheckout(again.payment)
  expect(payment.message.nonce).not.toBe(drafted.payment.message.nonce)
  expect(await acceptCeiling(shop, drafted)).toMatchObject({ ok: false })
  expect(await acceptCeiling(shop, { ...drafted, payment })).toMatchObject({
    ok: true,
  })
  expect(await shop.orders.reauthorize({ orderId: drafted.id })).toMatchObject({
    ok: false,
    reason: 'notOpen',
  })
})

test('a policy that captures by itself leaves a ceiling to the merchant', async () => {
  const shop = await openCeilingShop(chain, { policy: { capture: 'onAccept' } })
  const { id } = await storedCeiling(chain, shop)
  const [order] = await shop.store.read(({ orders }) =>
    orders.find({ ids: [id] }),
  )
  expect(order).toMatchObject({ sendDue: undefined, requested: undefined })
})

test('a draft names an amount or a ceiling, and a ceiling its payer and a kind', async () => {
  const { orders } = await openCeilingShop(chain)
  const payer = newAccount().address
  const both = { amount: '1', atMost: '2', payer }
  await expect(orders.draft(both)).rejects.toThrow(/^atMost must be left out/)
  await expect(orders.draft({ payer })).rejects.toThrow(/amount must be given/)
  await expect(orders.draft({ atMost: '2' })).rejects.toThrow(/payer/)
  const plain = await openShop(chain)
  await expect(plain.orders.draft({ atMost: '2', payer })).rejects.toThrow(
    /kinds/,
  )
})
