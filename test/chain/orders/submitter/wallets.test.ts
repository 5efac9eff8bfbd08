import { startDevChain } from 'countersign/devchain'
import type { Account, Address } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { parsePayment } from '../../../../src/core/fields.js'
import {
  paymentOf,
  sealContextOf,
} from '../../../../src/orders/model/paymentOf.js'
import { voidOrder } from '../../../../src/orders/verbs/voidOrder.js'
import { StoreError } from '../../../../src/store/errors.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../../src/store/types.js'
import { revoke, rpcError } from '../../support/desk.js'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
const { test: control } = chain.clients
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
afterEach(() => control.setAutomine(true))

const addresses = chain.accounts.slice(5).map(({ address }) => address)

/** An account of the node's own, which signs and sends at once. */
function openWallet(parameters: Partial<ShopParameters> = {}): Shop {
  const address = addresses.pop() as Address
  const account: Account = { address, type: 'json-rpc' }
  return openShop(chain, { account, ...parameters })
}

/** A cancellation to be sent, after the buyer signed for 100 seconds only. */
async function askToCancel(shop: Shop, orderId: string): Promise<void> {
  const { timestamp } = await chain.clients.public.getBlock()
  await shop.context.store.write(async (tables) => {
    const [order] = await tables.orders.find({ ids: [orderId] })
    const [attempt] = await tables.attempts.find({ orderIds: [orderId] })
    if (!order || !attempt) throw new Error('no order')
    const { sealer } = shop.context
    const { signature } = await revoke(
      chain,
      parsePayment(paymentOf(shop.context, order, attempt)),
    )
    const context = sealContextOf('cancellation', order, attempt)
    const cancellation = await sealer.seal(signature, context)
    const signedBefore = timestamp + 100n
    await tables.attempts.update([{ ...attempt, cancellation, signedBefore }])
    await tables.orders.update([{ ...order, requested: 'cancel', sendDue: 0n }])
  })
}

type Send = (
  forward: (fields: object) => Promise<unknown>,
  fields: { nonce?: string; data?: string },
) => Promise<unknown>

/** Stands between the wallet and the library. */
const onSend =
  (send: Send): NonNullable<ShopParameters['answer']> =>
  ({ method, params }, forward) => {
    if (method !== 'eth_sendTransaction') return forward()
    const [fields] = Array.isArray(params) ? params : []
    const pass = (changed: object) =>
      chain.clients.public.request({ method, params: [changed] } as never)
    return send(pass, fields)
  }

const submitterValue = (shop: Shop) =>
  shop.context.store.read((tables) =>
    tables.getValue(`submitter:31337:${shop.account.address.toLowerCase()}`),
  )

test('a wallet that keeps the nonce it is told sends many at once', async () => {
  const shop = openWallet()
  const ids = await storeOrders(shop, 6)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  expect(await submitterValue(shop)).toMatchObject({ ignoresNonce: false })
  const { transactions } = await rowsOf(shop, ids)
  expect(
    transactions.map(({ raw, hash, inFlight }) => [raw, typeof hash, inFlight]),
  ).toEqual(ids.map(() => [undefined, 'string', false]))
})

test('a wallet that picks its own nonces gets one order at a time', async () => {
  let most = 0
  const shop: Shop = openWallet({
    answer: onSend(async (pass, { nonce: _, ...fields }) => {
      most = Math.max(most, await openNonces(shop))
      return pass(fields)
    }),
  })
  // What it used before is not what we think comes next.
  const key = `submitter:31337:${shop.account.address.toLowerCase()}`
  await shop.context.store.write((tables) =>
    tables.setValue(key, { nextNonce: 7 }),
  )
  const ids = await storeOrders(shop, 4)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  expect(most).toBe(0)
  expect(await submitterValue(shop)).toMatchObject({ ignoresNonce: true })
})

test('a wallet that sent and did not say so is not asked again', async () => {
  let asked = 0
  const shop = openWallet({
    answer: onSend(async (pass, fields) => {
      asked++
      await pass(fields)
      throw new Error('fetch failed')
    }),
  })
  const [orderId = ''] = await storeOrders(shop, 1)
  const result = await capture(shop, orderId)
  expect(result).toMatchObject({ status: 'captured' })
  expect(asked).toBe(1)
  const { transactions } = await rowsOf(shop, [orderId])
  // The chain has shown what the wallet had not told.
  const hash = result.order.capture?.transactionHash
  expect(transactions).toMatchObject([
    { hash, raw: undefined, inFlight: false },
  ])
})

test('a wallet that may have sent is not asked again before the window is over', async () => {
  let asked = 0
  const shop = openWallet({
    answer: onSend(async () => {
      asked++
      throw new Error('fetch failed')
    }),
  })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId, 800)).toMatchObject({
    status: 'unknown',
    resolvedBy: 'window',
  })
  await chain.warp(1000)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'expired',
  })
  expect(asked).toBe(1)
  const { transactions } = await rowsOf(shop, [orderId])
  expect(transactions).toMatchObject([{ hash: undefined, inFlight: false }])
})

test('a wallet that sent is not asked again where its hash could not be kept', async () => {
  let asked = 0
  let isDown = false
  const kept = memoryStore()
  const store: PaymentStore = {
    ...kept,
    write: async (work, options) => {
      if (!isDown) return kept.write(work, options)
      isDown = false
      throw new StoreError('cannot reach its database', true)
    },
  }
  const shop = openWallet({
    store,
    answer: onSend(async (pass, fields) => {
      asked++
      const hash = await pass(fields)
      isDown = true
      return hash
    }),
  })
  const [orderId = ''] = await storeOrders(shop, 1)
  await control.setAutomine(false)
  expect(await capture(shop, orderId, 1500)).toMatchObject({
    status: 'unknown',
    resolvedBy: 'window',
  })
  expect(asked).toBe(1)
  await control.mine({ blocks: 1 })
  expect(await capture(shop, orderId)).toMatchObject({ status: 'captured' })
  expect(asked).toBe(1)
  expect(await timesPaid(shop, [orderId])).toEqual([1])
})

test('a nonce of which nothing is known is released once the window is over', async () => {
  let isSilent = false
  const shop = openWallet({
    answer: onSend(async (pass, fields) => {
      if (isSilent && fields.data !== '0x') throw new Error('fetch failed')
      return pass(fields)
    }),
  })
  const [first, second = '', third = ''] = await storeOrders(shop, 3)
  expect(await capture(shop, first)).toMatchObject({ status: 'captured' })
  isSilent = true
  expect(await capture(shop, second, 500)).toMatchObject({ status: 'unknown' })
  await chain.warp(1000)
  expect(await capture(shop, second)).toMatchObject({ reason: 'expired' })
  isSilent = false
  const { timestamp } = await chain.clients.public.getBlock()
  const [fourth] = await storeOrders(shop, 1, { now: timestamp })
  expect(await capture(shop, fourth)).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, [second, third])).toEqual([0, 0])
  const { transactions } = await rowsOf(shop, [second])
  expect(transactions.map(({ kind, inFlight }) => [kind, inFlight])).toEqual([
    ['capture', false],
    ['filler', false],
  ])
})

test('a cancellation of which nothing is known keeps its nonce until every signature is dead', async () => {
  let isSilent = false
  const shop = openWallet({
    answer: onSend(async (pass, fields) => {
      if (isSilent && fields.data !== '0x') throw new Error('fetch failed')
      return pass(fields)
    }),
  })
  const [first, second = ''] = await storeOrders(shop, 2)
  expect(await capture(shop, first)).toMatchObject({ status: 'captured' })
  await askToCancel(shop, second)
  isSilent = true
  const kinds = async () => {
    const { transactions } = await rowsOf(shop, [second])
    return transactions.map(({ kind }) => kind)
  }
  const result = capture(shop, second)
  await expect.poll(kinds).toEqual(['cancel'])
  await chain.warp(200)
  expect(await capture(shop, second, 500)).toMatchObject({ status: 'unknown' })
  expect(await kinds()).toEqual(['cancel'])
  await chain.warp(1000)
  expect(await result).toMatchObject({ reason: 'expired' })
  await expect.poll(kinds).toEqual(['cancel', 'filler'])
})

test('what the user declines is free to be asked for again, under the same nonce', async () => {
  let isDeclined = true
  const store = memoryStore()
  const shop = openWallet({
    store,
    answer: onSend((pass, fields) =>
      isDeclined
        ? Promise.reject(rpcError(4001, 'User rejected the request.'))
        : pass(fields),
    ),
  })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'signingDeclined',
    order: { state: 'stored' },
  })
  isDeclined = false
  expect(await capture(shop, orderId)).toMatchObject({ status: 'captured' })
  const { transactions } = await rowsOf(shop, [orderId])
  expect(
    transactions.map(({ nonce, bump, hash }) => [nonce, bump, Boolean(hash)]),
  ).toEqual([
    [0, 0, false],
    [0, 1, true],
  ])
})

test('a void while the wallet is asked is applied when it sends nothing', async () => {
  let isPoor = true
  const shop: Shop = openWallet({
    answer: onSend(async (pass, fields) => {
      if (!isPoor) return pass(fields)
      isPoor = false
      await voidOrder(shop.context, { orderId })
      throw rpcError(-32000, 'insufficient funds for gas * price + value')
    }),
  })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    order: { state: 'voided' },
  })
  expect(await timesPaid(shop, [orderId])).toEqual([0])
})

test('a wallet on another chain is told nothing', async () => {
  const answer: ShopParameters['answer'] = async ({ method }, forward) =>
    method === 'eth_chainId' ? '0x1' : forward()
  const shop = openWallet({ answer })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId, 500)).toMatchObject({
    status: 'unknown',
    order: { state: 'stored', requested: 'capture' },
  })
  expect(shop.seen.map(({ attributes }) => attributes.error)).toContain(
    'WrongWalletError',
  )
})
