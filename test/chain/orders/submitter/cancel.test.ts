import { cancelPayment, capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { getBlock } from 'viem/actions'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { sealContextOf } from '../../../../src/orders/model/paymentOf.js'
import { voidOrder } from '../../../../src/orders/verbs/voidOrder.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { AttemptRecord, OrderRecord } from '../../../../src/store/types.js'
import { draft, fundedAccount, mined, revoke } from '../../support/desk.js'
import {
  capture,
  openNonces,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrder,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { public: reader, test: control, relayer } = chain.clients
afterAll(() => chain.stop())
afterEach(() => control.setAutomine(true))

/** An order with a payment, and its cancellation, in some state. */
async function storeCanceled(
  shop: Shop,
  changes: Partial<OrderRecord> = { requested: 'cancel', sendDue: 0n },
  window: Partial<AttemptRecord> = {},
) {
  const payment = await draft(chain, { to: shop.account.address })
  const cancellation = await revoke(chain, payment)
  const orderId = await storeOrder(shop, payment, changes)
  const { store, sealer } = shop.context
  await store.write(async (tables) => {
    const [order] = await tables.orders.find({ ids: [orderId] })
    const [attempt] = await tables.attempts.find({ orderIds: [orderId] })
    if (!order || !attempt) throw new Error('no order')
    const context = sealContextOf('cancellation', order, attempt)
    const sealed = await sealer.seal(cancellation.signature, context)
    await tables.attempts.update([
      { ...attempt, ...window, cancellation: sealed },
    ])
  })
  return { orderId, payment, cancellation }
}

/** One whose buyer signed for 900 seconds first, and then for 100. */
async function storeShortened(shop: Shop) {
  const { timestamp } = await getBlock(reader)
  const validBefore = timestamp + 100n
  return storeCanceled(shop, undefined, {
    validBefore,
    signedBefore: validBefore,
  })
}

const newShop = async (policy = {}, more: Partial<ShopParameters> = {}) =>
  openShop(chain, { account: await fundedAccount(chain), policy, ...more })

/** Never gets the first transaction to its node, however often it is sent. */
function loseFirst(): Pick<ShopParameters, 'answer'> {
  let lost: string | undefined
  return {
    answer: async ({ method, params }, forward) => {
      if (method !== 'eth_sendRawTransaction') return forward()
      lost ??= String(params)
      if (lost === String(params)) throw new Error('fetch failed')
      return forward()
    },
  }
}

/** Has the submitter worked on, as a worker does, until the test ends. */
function holdSubmitter({ context, engine }: Shop): void {
  const [wallet] = context.wallets
  if (!wallet) throw new Error('no wallet')
  const hold = new AbortController()
  const held = engine.hold(wallet.submitter, hold.signal, (work) => work())
  onTestFinished(() => {
    hold.abort()
    return held
  })
}

const types = async (shop: Shop, orderId: string) =>
  (await rowsOf(shop, [orderId])).events.map(({ type }) => type)

test('a cancellation that is to be sent is, and only its event proves it', async () => {
  const shop = await newShop()
  const { orderId } = await storeCanceled(shop)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { state: 'canceled', cancellation: { finality: 'included' } },
  })
  expect(await types(shop, orderId)).toEqual(['canceling', 'canceled'])
  const { transactions, proofs } = await rowsOf(shop, [orderId])
  expect(transactions).toMatchObject([{ kind: 'cancel', inFlight: false }])
  expect(proofs).toMatchObject([{ kind: 'cancel', value: 0n }])
  expect(await timesPaid(shop, [orderId])).toEqual([0])
})

test('the cancellation of a voided order is sent, and the order canceled', async () => {
  const shop = await newShop()
  const { orderId } = await storeCanceled(shop, {
    state: 'voided',
    requested: 'cancel',
    sendDue: 0n,
  })
  const other = await storeOrder(
    shop,
    await draft(chain, { to: shop.account.address }),
  )
  expect(await capture(shop, other)).toMatchObject({ status: 'captured' })
  await expect.poll(() => types(shop, orderId)).toContain('canceled')
  const { orders } = await rowsOf(shop, [orderId])
  // The requested is for a reorganization that takes the cancellation back.
  expect(orders).toMatchObject([{ state: 'canceled', requested: 'void' }])
})

test('a cancellation is sent as long as an older signature can be used', async () => {
  const shop = await newShop()
  const { orderId, payment } = await storeShortened(shop)
  await chain.warp(200)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'canceled',
    order: { state: 'canceled' },
  })
  await expect(
    capturePayment(relayer, { payment, account: shop.account }),
  ).rejects.toMatchObject({ reason: 'consumed' })
})

test('a cancellation in the pool outlives the shorter of two windows', async () => {
  const shop = await newShop({ bumpAfter: 3 }, loseFirst())
  const { orderId } = await storeShortened(shop)
  const result = capture(shop, orderId)
  await expect.poll(() => types(shop, orderId)).toEqual(['canceling'])
  await chain.warp(200)
  // Its wait counts from the block of the first poll that saw it in flight,
  // which may come after the warp: this chain mines no other block.
  const later = async () => {
    await chain.warp(5)
    return types(shop, orderId)
  }
  await expect.poll(later).toContain('canceled')
  expect(await result).toMatchObject({ reason: 'canceled' })
  const { transactions } = await rowsOf(shop, [orderId])
  expect(new Set(transactions.map(({ kind }) => kind))).toEqual(
    new Set(['cancel']),
  )
})

test('whoever takes over a cancellation sends it until the last window ends', async () => {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const policy = { lease: 400, bumpAfter: 3_600 }
  const dead = openShop(chain, {
    account,
    store,
    policy,
    answer: async ({ method }, forward) => {
      if (method === 'eth_sendRawTransaction') throw new Error('fetch failed')
      return forward()
    },
  })
  const { orderId, payment } = await storeShortened(dead)
  const given = capture(dead, orderId)
  await expect.poll(() => types(dead, orderId)).toEqual(['canceling'])
  await dead.engine.stop()
  expect(await given).toMatchObject({
    status: 'unknown',
    until: payment.message.validBefore,
  })
  await chain.warp(200)
  const alive = openShop(chain, { account, store, policy })
  expect(await capture(alive, orderId)).toMatchObject({ reason: 'canceled' })
  const { transactions } = await rowsOf(alive, [orderId])
  expect(transactions).toMatchObject([{ kind: 'cancel', inFlight: false }])
})

test('a cancellation of a spent nonce costs no gas', async () => {
  const shop = await newShop()
  const { orderId, cancellation } = await storeCanceled(shop)
  const hash = await mined(chain, cancelPayment(relayer, { cancellation }))
  expect(await capture(shop, orderId)).toMatchObject({ reason: 'canceled' })
  const { transactions, proofs } = await rowsOf(shop, [orderId])
  expect(transactions).toEqual([])
  expect(proofs).toMatchObject([{ transactionHash: hash }])
})

test('a capture that loses to the buyer on chain is canceled, and the payer waits', async () => {
  const shop = await newShop()
  const signer = await fundedAccount(chain, 100_000_000n)
  const { address: to } = shop.account
  const payment = await draft(chain, { to, signer })
  const cancellation = await revoke(chain, payment, signer)
  const orderId = await storeOrder(shop, payment)
  const open = await storeOrder(shop, await draft(chain, { to, signer }))
  await control.setAutomine(false)
  const result = capture(shop, orderId)
  await expect.poll(() => openNonces(shop)).toBe(1)
  await cancelPayment(relayer, {
    cancellation,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  await control.mine({ blocks: 1 })
  await control.setAutomine(true)
  expect(await result).toMatchObject({ status: 'rejected', reason: 'canceled' })
  const { orders } = await rowsOf(shop, [open])
  expect(orders).toMatchObject([{ state: 'stored', needsReview: true }])
})

test('a void during a cancellation that comes to nothing is kept', async () => {
  const policy = { bumpAfter: 3, safetyMargin: 300n }
  const shop = await newShop(policy, loseFirst())
  const { orderId, payment } = await storeCanceled(shop)
  holdSubmitter(shop)
  await expect.poll(() => types(shop, orderId)).toEqual(['canceling'])
  expect(await voidOrder(shop.context, { orderId })).toMatchObject({ ok: true })
  // Too late to be sent again, and too early for the payment to be dead.
  const { timestamp } = await getBlock(reader)
  await chain.warp(Number(payment.message.validBefore - timestamp) - 250)
  await expect
    .poll(() => types(shop, orderId))
    .toEqual(['canceling', 'voided', 'cancelRejected'])
  const { orders, transactions } = await rowsOf(shop, [orderId])
  expect(orders).toMatchObject([{ state: 'voided', requested: undefined }])
  expect(transactions.map(({ kind }) => kind)).toEqual(['cancel', 'filler'])
})

test('a void during a cancellation does not stop it', async () => {
  const shop = await newShop()
  const { orderId } = await storeCanceled(shop)
  await control.setAutomine(false)
  holdSubmitter(shop)
  await expect.poll(() => openNonces(shop)).toBe(1)
  await voidOrder(shop.context, { orderId })
  await control.mine({ blocks: 1 })
  await expect
    .poll(() => types(shop, orderId))
    .toEqual(['canceling', 'voided', 'canceled'])
})

test('a void during a capture that is stuck is applied, and the cancellation sent', async () => {
  const policy = { bumpAfter: 3, relayCancellations: 'always' }
  const shop = await newShop(policy, loseFirst())
  const { orderId } = await storeCanceled(shop, {
    requested: 'capture',
    sendDue: 0n,
  })
  holdSubmitter(shop)
  await expect.poll(() => types(shop, orderId)).toEqual(['capturing'])
  expect(await voidOrder(shop.context, { orderId })).toMatchObject({
    ok: false,
    reason: 'captureInFlight',
  })
  // The submitter has to see it stuck at one time, and still stuck at a later one.
  const typesLater = async () => {
    await chain.warp(5)
    return types(shop, orderId)
  }
  await expect
    .poll(typesLater, { timeout: 60_000, interval: 200 })
    .toEqual([
      ...['capturing', 'captureRejected', 'voided', 'canceling', 'canceled'],
    ])
  const { transactions } = await rowsOf(shop, [orderId])
  expect(transactions.map(({ kind }) => kind)).toEqual([
    ...['capture', 'filler', 'cancel'],
  ])
  expect(await timesPaid(shop, [orderId])).toEqual([0])
})

test('a void during a capture that dies is applied', async () => {
  const shop = await newShop({ bumpAfter: 3 })
  const payment = await draft(chain, { to: shop.account.address })
  const orderId = await storeOrder(shop, payment)
  await control.setAutomine(false)
  const result = capture(shop, orderId)
  await expect.poll(() => openNonces(shop)).toBe(1)
  await shop.context.store.write(async (tables) => {
    const [order] = await tables.orders.find({ ids: [orderId] })
    if (order) await tables.orders.update([{ ...order, requested: 'void' }])
  })
  await control.request({ method: 'anvil_dropAllTransactions' } as never)
  await chain.warp(1000)
  await control.setAutomine(true)
  expect(await result).toMatchObject({ status: 'rejected' })
  const { orders, transactions } = await rowsOf(shop, [orderId])
  expect(['voided', 'expired']).toContain(orders[0]?.state)
  expect(transactions.map(({ kind }) => kind)).toEqual(['capture', 'filler'])
})
