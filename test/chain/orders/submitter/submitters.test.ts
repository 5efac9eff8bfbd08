import { capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { encodeCapture } from '../../../../src/payments/message/encodeCall.js'
import { draft, fundedAccount, mined } from '../../support/desk.js'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  openShop,
  rowsOf,
  storeOrder,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))

const newShop = async (parameters: Partial<Parameters<typeof openShop>[1]>) =>
  openShop(chain, { account: await fundedAccount(chain), ...parameters })

const units = 1_000_000n

test('a stored payment is captured, with its proof', async () => {
  const shop = await newShop({})
  const [orderId = ''] = await storeOrders(shop, 1)
  const result = await capture(shop, orderId)
  const { orders, transactions, proofs, events } = await rowsOf(shop, [orderId])
  expect(result).toMatchObject({
    status: 'captured',
    order: {
      id: orderId,
      state: 'captured',
      capture: { finality: 'included' },
    },
    proof: { transactionHash: transactions[0]?.hash },
  })
  expect(orders).toMatchObject([
    { state: 'captured', finality: 'included', requested: undefined },
  ])
  expect(transactions).toMatchObject([
    { kind: 'capture', nonce: 0, bump: 0, inFlight: false },
  ])
  expect(proofs).toMatchObject([{ kind: 'capture', value: units }])
  expect(events.map(({ type }) => type)).toEqual([
    'captureRequested',
    'capturing',
    'captured',
  ])
})

test('fifty captures at once go out together on one account', async () => {
  const shop = await newShop({ policy: { maxInFlight: 50 } })
  const ids = await storeOrders(shop, 50)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(new Set(await timesPaid(shop, ids))).toEqual(new Set([1]))
  const { transactions } = await rowsOf(shop, ids)
  const nonces = transactions.map(({ nonce }) => nonce)
  expect(nonces.sort((one, other) => one - other)).toEqual(
    Array.from({ length: 50 }, (_, nonce) => nonce),
  )
  expect(await openNonces(shop)).toBe(0)
})

test('no more are in flight than allowed, and all are captured', async () => {
  const shop = await newShop({ policy: { maxInFlight: 4 } })
  const ids = await storeOrders(shop, 10)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  const sent = shop.seen.filter(({ name }) => name === 'submitter.sent')
  expect(
    Math.max(...sent.map(({ attributes }) => Number(attributes.sent))),
  ).toBeLessThanOrEqual(4)
})

test('a second capture gets the result of the first, then and later', async () => {
  const shop = await newShop({})
  const [orderId = ''] = await storeOrders(shop, 1)
  const [first, second] = await Promise.all([
    capture(shop, orderId),
    capture(shop, orderId),
  ])
  expect(second).toEqual(first)
  expect(await capture(shop, orderId)).toEqual(first)
  expect(await timesPaid(shop, [orderId])).toEqual([1])
  const { events } = await rowsOf(shop, [orderId])
  expect(events).toHaveLength(3)
})

test('a third party that submits a Transfer payment first has captured it', async () => {
  const shop = await newShop({})
  const { relayer } = chain.clients
  const to = shop.account.address
  const primaryType = 'TransferWithAuthorization' as const
  const payment = await draft(chain, { to, primaryType })
  const orderId = await storeOrder(shop, payment)
  const hash = await mined(chain, capturePayment(relayer, { payment }))
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash },
  })
  const { transactions } = await rowsOf(shop, [orderId])
  expect(transactions).toEqual([])
})

test('a third party that overtakes our capture is on record as who submitted', async () => {
  const shop = await newShop({})
  const { relayer, test: control } = chain.clients
  const to = shop.account.address
  const primaryType = 'TransferWithAuthorization' as const
  const payment = await draft(chain, { to, primaryType })
  const orderId = await storeOrder(shop, payment)
  await control.setAutomine(false)
  const { data } = encodeCapture(payment)
  const sent = await relayer.sendTransaction({
    to: chain.token,
    data,
    gas: 200_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
  })
  const result = capture(shop, orderId)
  await expect.poll(() => openNonces(shop)).toBe(1)
  await control.mine({ blocks: 1 })
  await control.setAutomine(true)
  expect(await result).toMatchObject({
    status: 'captured',
    proof: {
      transactionHash: sent,
      submitter: relayer.account.address.toLowerCase(),
    },
  })
  const { transactions } = await rowsOf(shop, [orderId])
  expect(transactions).toMatchObject([{ inFlight: false }])
  expect(await timesPaid(shop, [orderId])).toEqual([1])
})

test('what was rejected for want of funds is captured once they are there', async () => {
  const shop = await newShop({})
  const signer = await fundedAccount(chain)
  const [orderId = ''] = await storeOrders(shop, 1, { signer })
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'insufficientFunds',
    order: { state: 'stored', requested: undefined, needsReview: false },
  })
  await chain.mint({ to: signer.address, value: units })
  expect(await capture(shop, orderId)).toMatchObject({ status: 'captured' })
  const { events } = await rowsOf(shop, [orderId])
  expect(events.map(({ type }) => type)).toEqual([
    'captureRequested',
    'captureRejected',
    'captureRequested',
    'capturing',
    'captured',
  ])
})

test('of two payments that exceed what their payer has one is captured', async () => {
  const shop = await newShop({})
  const signer = await fundedAccount(chain, units)
  const ids = await storeOrders(shop, 2, { signer })
  const statuses = await captureAll(shop, ids)
  expect(statuses.sort()).toEqual(['captured', 'rejected'])
  const { events } = await rowsOf(shop, ids)
  expect(events.map(({ type }) => type)).not.toContain('needsReview')
})

test('a capture dearer than allowed is refused', async () => {
  const shop = await newShop({ policy: { maxFee: 1n } })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'feeTooHigh',
  })
})

test('nothing is sent within the safety margin, nor after the window', async () => {
  const shop = await newShop({
    policy: { window: 2000n, safetyMargin: 1000n },
  })
  const [near = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, near)).toMatchObject({
    status: 'rejected',
    reason: 'deadlinePassed',
  })
  const { timestamp } = await chain.clients.public.getBlock()
  const [over = ''] = await storeOrders(shop, 1, { now: timestamp - 2000n })
  expect(await capture(shop, over)).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  const { transactions } = await rowsOf(shop, [near, over])
  expect(transactions).toEqual([])
})

test.each([
  ['drafted', 'notOpen'],
  ['voided', 'notOpen'],
  ['expired', 'expired'],
  ['canceled', 'canceled'],
  ['consumed', 'consumed'],
] as const)('an order that is %s is not captured', async (state, reason) => {
  const shop = await newShop({})
  const to = shop.account.address
  const payment = await draft(chain, { to })
  const orderId = await storeOrder(shop, payment, { state })
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason,
    order: { state },
  })
})

test('an order nobody knows is an error', async () => {
  const shop = await newShop({})
  await expect(capture(shop, 'none')).rejects.toMatchObject({
    name: 'OrderNotFoundError',
  })
})

test('what is not decided in time is unknown, and the requested is kept', async () => {
  const shop = await newShop({})
  const { test: control } = chain.clients
  const [orderId = ''] = await storeOrders(shop, 1)
  await control.setAutomine(false)
  expect(await capture(shop, orderId, 300)).toMatchObject({
    status: 'unknown',
    resolvedBy: 'chain',
    order: { state: 'capturing', requested: 'capture' },
  })
  await control.setAutomine(true)
  await control.mine({ blocks: 1 })
  expect(await capture(shop, orderId)).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, [orderId])).toEqual([1])
})

test('a suspended store sends nothing', async () => {
  const shop = await newShop({})
  const [orderId = ''] = await storeOrders(shop, 1)
  const suspend = (suspended: boolean) =>
    shop.context.store.write((tables) =>
      tables.setValue('store', { suspended }),
    )
  await suspend(true)
  expect(await capture(shop, orderId, 300)).toMatchObject({
    status: 'unknown',
    resolvedBy: 'worker',
  })
  await suspend(false)
  expect(await capture(shop, orderId)).toMatchObject({ status: 'captured' })
})

test('bytes that come to rest after their order was final are not kept', async () => {
  const shop = await newShop({})
  const [first = '', second] = await storeOrders(shop, 2)
  await capture(shop, first)
  const before = await rowsOf(shop, [first])
  expect(before.transactions).toMatchObject([{ raw: expect.any(String) }])
  await shop.context.store.write(async (tables) => {
    await tables.orders.update(
      before.orders.map((row) => ({ ...row, finality: 'finalized' as const })),
    )
    await tables.transactions.update(
      before.transactions.map((row) => ({ ...row, inFlight: true })),
    )
  })
  await capture(shop, second)
  await expect
    .poll(async () => (await rowsOf(shop, [first])).transactions)
    .toMatchObject([{ inFlight: false, raw: undefined }])
})
