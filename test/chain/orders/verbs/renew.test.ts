import { capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { memoryStore, sealer } from 'countersign/store'
import { getBlock } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { draftOrder } from '../../../../src/orders/verbs/draftOrder.js'
import { reauthorizeOrder } from '../../../../src/orders/verbs/reauthorizeOrder.js'
import { fundedAccount, mined, revoke } from '../../support/desk.js'
import { startLiveChain } from '../../support/liveChain.js'
import {
  eventsOf,
  openShop,
  pay,
  rowsOf,
  setOrder,
  storedOrder,
} from '../../support/shop.js'
import { orderOf, typesOf, watcherOf } from '../../support/watching.js'
import { contextOf } from '../../support/watchRows.js'

const chain = await startDevChain({ blockTime: 0 })
const live = await startLiveChain()
afterAll(() => Promise.all([chain.stop(), live.stop()]))

const price = 12_500_000n
const shop = await openShop(chain)
const { orders } = shop
const now = async () => (await getBlock(chain.clients.public)).timestamp

/** What `reauthorize` must have said yes to. */
async function renew(orderId: string, window?: bigint) {
  const verdict = await orders.reauthorize({ orderId, window })
  if (!verdict.ok) throw new Error(verdict.reason)
  return verdict
}

test('a drafted order keeps its nonce and gets a new window', async () => {
  const { order } = await orders.draft({ amount: '12.50' })
  await chain.warp(100)
  const renewed = await renew(order.id, 500n)
  const time = await now()
  const window = { validAfter: time - 60n, validBefore: time + 500n }
  expect(renewed.order).toEqual({ ...order, ...window })
  expect(renewed.payment.message).toEqual({
    to: order.recipient,
    value: price,
    nonce: order.nonce,
    ...window,
  })
  expect((await rowsOf(shop, order.id)).order).toMatchObject({
    deadline: window.validBefore,
    // The first offer may have been signed.
    lookDue: order.validBefore,
  })
  expect(await eventsOf(shop, order.id)).toEqual(['drafted', 'reauthorized'])
})

test.each(['anyone', 'one payer'])(
  'a draft for %s that was offered for longer first can be paid with that offer',
  async (who) => {
    const context = contextOf(chain)
    const buyer = await fundedAccount(chain, price)
    const drafted = await draftOrder(context, {
      amount: '12.50',
      primaryType: 'TransferWithAuthorization',
      payer: who === 'anyone' ? undefined : buyer.address,
    })
    const { id: orderId, nonce, validBefore } = drafted.order
    await reauthorizeOrder(context, { orderId, window: 100n })
    const look = watcherOf(context)
    await chain.warp(200)
    await look()
    expect(await orderOf(context, orderId)).toMatchObject({
      state: 'drafted',
      lookDue: validBefore,
    })
    const again = await reauthorizeOrder(context, { orderId })
    expect(again.order).toMatchObject({ state: 'drafted', nonce })
    const payment = await pay(buyer, drafted.payment)
    const { relayer } = chain.clients
    await mined(chain, capturePayment(relayer, { payment }))
    await look()
    expect(await typesOf(context, orderId)).toEqual([
      ...['drafted', 'reauthorized', 'reauthorized', 'captured'],
    ])
    expect(await orderOf(context, orderId)).toMatchObject({
      state: 'captured',
      unexpected: false,
      overpaid: false,
    })
  },
)

test('a draft ends with the longest window it was offered for', async () => {
  const context = contextOf(chain)
  const { order } = await draftOrder(context, { amount: '12.50' })
  const orderId = order.id
  await reauthorizeOrder(context, { orderId, window: 100n })
  await chain.warp(900)
  const look = watcherOf(context)
  await look()
  // A draft without a payer ends once a second look finds no payment either.
  await chain.warp(20)
  await look()
  expect(await orderOf(context, orderId)).toMatchObject({ state: 'expired' })
})

test('a stored signature stays until the new one replaces it', async () => {
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const before = await rowsOf(shop, id)
  await chain.warp(50)
  const { payment, order } = await renew(id)
  const until = payment.message.validBefore
  expect(until).toBeGreaterThanOrEqual(signed.message.validBefore + 50n)
  expect(order).toMatchObject({
    state: 'stored',
    nonce: signed.message.nonce,
    spendableUntil: signed.message.validBefore,
  })
  const asked = await rowsOf(shop, id)
  expect(asked.attempts[0]).toMatchObject({
    signature: before.attempts[0]?.signature,
    signedBefore: signed.message.validBefore,
    validBefore: until,
  })
  expect(asked.order.lookDue).toBe(before.order.lookDue)
  const accept = (payment: unknown) => orders.accept({ orderId: id, payment })
  expect(await accept(signed)).toMatchObject({ ok: true, at: undefined })
  const again = await pay(buyer, payment)
  expect(await accept(again)).toMatchObject({
    ok: true,
    order: { state: 'stored', attempt: 1, spendableUntil: until },
  })
  const after = await rowsOf(shop, id)
  expect(after.attempts).toHaveLength(1)
  expect(after.attempts[0]?.signature).toBe(`none ${again.signature}`)
  expect(after.attempts[0]?.signedBefore).toBe(until)
  expect(await accept(signed)).toMatchObject({ reason: 'otherPayment' })
  expect(await eventsOf(shop, id)).toEqual([
    'drafted',
    'accepted',
    'reauthorized',
    'accepted',
  ])
})

test('a signature whose key is lost is asked for anew within the same block, and sealed with the new key', async () => {
  const seller = await fundedAccount(chain)
  const kept = { sellers: [seller], store: memoryStore() }
  const sealWith = (name: string, lost: readonly string[] = []) => {
    const key = crypto.getRandomValues(new Uint8Array(32))
    return sealer({ keys: { [name]: key }, current: name, lost })
  }
  const before = await openShop(chain, { ...kept, seal: sealWith('lost') })
  const { id, buyer, signed } = await storedOrder(chain, before)
  const { orders } = await openShop(chain, {
    ...kept,
    seal: sealWith('next', ['lost']),
  })
  const orderId = id
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'rejected',
    reason: 'sealBroken',
  })
  const renewed = await orders.reauthorize({ orderId })
  if (!renewed.ok) throw new Error(renewed.reason)
  const { validAfter, validBefore, nonce } = signed.message
  expect(renewed.payment.message).toMatchObject({
    validAfter: validAfter - 1n,
    validBefore,
    nonce,
  })
  const payment = await pay(buyer, renewed.payment)
  expect(await orders.accept({ orderId, payment })).toMatchObject({
    ok: true,
    at: { time: validBefore - 900n },
  })
  expect(await orders.capture({ orderId })).toMatchObject({
    status: 'captured',
  })
})

test('what can be spent longest counts, also after a shorter window', async () => {
  const { id, buyer, signed } = await storedOrder(chain, shop)
  const { payment } = await renew(id, 100n)
  const again = await pay(buyer, payment)
  expect(await orders.accept({ orderId: id, payment: again })).toMatchObject({
    ok: true,
    order: { spendableUntil: signed.message.validBefore },
  })
})

test('a cancellation is taken and sent until the longest window ends', async () => {
  const relaying = await openShop(chain, {
    policy: { relayCancellations: 'always' },
  })
  const { id, buyer, signed } = await storedOrder(chain, relaying)
  const orderId = id
  const renewed = await relaying.orders.reauthorize({ orderId, window: 100n })
  if (!renewed.ok) throw new Error(renewed.reason)
  const payment = await pay(buyer, renewed.payment)
  expect(await relaying.orders.accept({ orderId, payment })).toMatchObject({
    ok: true,
  })
  await chain.warp(200)
  expect(await relaying.orders.capture({ orderId })).toMatchObject({
    status: 'rejected',
    reason: 'expired',
    order: { state: 'stored' },
  })
  const cancellation = await revoke(chain, signed, buyer)
  expect(
    await relaying.orders.acceptCancellation({ orderId, cancellation }),
  ).toMatchObject({ ok: true, order: { state: 'stored', requested: 'cancel' } })
  expect(await relaying.orders.capture({ orderId })).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { state: 'canceled' },
  })
})

test('an expired order that may come back keeps its nonce', async () => {
  const { id, buyer, signed } = await storedOrder(chain, shop)
  await setOrder(shop, id, {
    state: 'expired',
    sendDue: 0n,
    requested: 'capture',
  })
  await chain.warp(10)
  const { order, payment } = await renew(id)
  expect(order).toMatchObject({
    state: 'drafted',
    attempt: 1,
    nonce: signed.message.nonce,
    requested: undefined,
  })
  expect((await rowsOf(shop, id)).order.sendDue).toBeUndefined()
  expect(await orders.accept({ orderId: id, payment: signed })).toMatchObject({
    ok: false,
    reason: 'wrongWindow',
  })
  const again = await pay(buyer, payment)
  expect(await orders.accept({ orderId: id, payment: again })).toMatchObject({
    ok: true,
    order: { state: 'stored', attempt: 1 },
  })
})

test.each([
  ['canceled', { state: 'canceled', finality: 'included' }],
  ['expired for good', { state: 'expired', finality: 'finalized' }],
] as const)(
  'an order that is %s is asked for with a new nonce',
  async (_, fields) => {
    const { id, buyer, signed } = await storedOrder(chain, shop)
    const settledHash = signed.message.nonce
    await setOrder(shop, id, { ...fields, settledHash, settledBlock: 1n })
    const { order, payment } = await renew(id)
    expect(order).toMatchObject({ state: 'drafted', attempt: 2 })
    expect(order.nonce).toBe(payment.message.nonce)
    expect(order.nonce).not.toBe(signed.message.nonce)
    expect((await rowsOf(shop, id)).order).toMatchObject({
      finality: undefined,
      settledHash: undefined,
      settledBlock: undefined,
    })
    expect(await orders.accept({ orderId: id, payment: signed })).toMatchObject(
      { ok: false, reason: 'wrongNonce' },
    )
    await chain.mint({ to: buyer.address, value: price })
    const again = await pay(buyer, payment)
    expect(await orders.accept({ orderId: id, payment: again })).toMatchObject({
      ok: true,
      order: { state: 'stored', attempt: 2 },
    })
    expect((await rowsOf(shop, id)).attempts).toHaveLength(2)
  },
)

test.each([
  { state: 'capturing' },
  { state: 'canceling' },
  { state: 'captured' },
  { state: 'consumed' },
  { state: 'voided' },
  { state: 'stored', requested: 'cancel' },
] as const)('nothing is asked for when it is %o', async (fields) => {
  const { id } = await storedOrder(chain, shop)
  await setOrder(shop, id, fields)
  const before = await rowsOf(shop, id)
  expect(await orders.reauthorize({ orderId: id })).toEqual({
    ok: false,
    reason: 'notOpen',
    order: await orders.get({ orderId: id }),
  })
  expect(await rowsOf(shop, id)).toEqual(before)
})

test('a window longer than allowed is refused', async () => {
  const { id } = await storedOrder(chain, shop)
  await expect(
    orders.reauthorize({ orderId: id, window: 86_401n }),
  ).rejects.toMatchObject({ details: { field: 'window' } })
})

test('on a chain whose clock is wrong nothing is offered or taken', async () => {
  const shop = await openShop(live as unknown as typeof chain)
  const buyer = await fundedAccount(live as unknown as typeof chain, price)
  const { order, payment } = await shop.orders.draft({ amount: '12.50' })
  const orderId = order.id
  const signed = await pay(buyer, payment)
  await live.clients.test.increaseTime({ seconds: 200 })
  await live.clients.test.mine({ blocks: 1 })
  for (const asked of [
    () => shop.orders.draft({ amount: '1' }),
    () => shop.orders.accept({ orderId, payment: signed }),
    () => shop.orders.reauthorize({ orderId }),
  ])
    await expect(asked()).rejects.toMatchObject({ name: 'ClockSkewError' })
})

test("on a chain whose clock is the merchant's own, any time is right", async () => {
  const place = live as unknown as typeof chain
  const shop = await openShop(place, {
    policy: { chainClock: 'own', capture: 'onAccept', fulfilAt: 'included' },
  })
  await live.clients.test.increaseTime({ seconds: 3_600 })
  await live.clients.test.mine({ blocks: 1 })
  const { id } = await storedOrder(place, shop)
  await shop.orders.reauthorize({ orderId: id })
  const { status } = await shop.orders.capture({ orderId: id })
  expect(status).toBe('captured')
  await shop.orders.close()
})
