import { startDevChain } from 'countersign/devchain'
import type { Address, Hash } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  capture,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import {
  openWalletShop,
  readOpen,
  type Send,
  sendFreely,
  setSubmitterValue,
} from '../../support/walletShop.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
const { test: control, public: reader } = chain.clients
afterAll(() => chain.stop())
afterEach(() => control.setAutomine(true))

const addresses = chain.accounts.slice(5).map(({ address }) => address)

/** A wallet that is known to send under nonces of its own. */
async function openFreeShop(
  send: Send = sendFreely,
  parameters: Partial<ShopParameters> = {},
): Promise<Shop> {
  const shop = openWalletShop(
    chain,
    addresses.pop() as Address,
    send,
    parameters,
  )
  await setSubmitterValue(shop, { nextNonce: 0, ignoresNonce: true })
  return shop
}

/** Has an order's capture sent, and not mined. */
async function sendInto(shop: Shop, orderId: string): Promise<Hash> {
  await control.setAutomine(false)
  await shop.context.store.write(async (tables) => {
    const [order] = await tables.orders.find({ ids: [orderId] })
    if (!order) throw new Error('There is no order.')
    await tables.orders.update([
      { ...order, requested: 'capture', sendDue: 0n },
    ])
  })
  void capture(shop, orderId, 60_000).catch(() => undefined)
  const hash = async () => (await readOpen(shop))[0]?.hash
  await expect.poll(hash).toBeDefined()
  const sent = await hash()
  if (!sent) throw new Error('There is no hash.')
  return sent
}

test('an order whose transaction is lost holds up no other, and ends with its own window', async () => {
  const shop = await openFreeShop(sendFreely, { policy: { bumpAfter: 1 } })
  const [lost = '', second = '', third = ''] = await storeOrders(shop, 3)
  await control.dropTransaction({ hash: await sendInto(shop, lost) })
  await control.setAutomine(true)
  expect(await capture(shop, second)).toMatchObject({ status: 'captured' })
  expect(await capture(shop, third)).toMatchObject({ status: 'captured' })
  expect(await rowsOf(shop, [lost])).toMatchObject({
    orders: [{ state: 'capturing' }],
    transactions: [{ inFlight: true }],
  })
  await chain.warp(1000)
  expect(await capture(shop, lost)).toMatchObject({ reason: 'expired' })
  expect(await readOpen(shop)).toEqual([])
  expect(await timesPaid(shop, [lost, second, third])).toEqual([0, 1, 1])
})

test('a transaction that was sped up in the wallet settles its order under another hash', async () => {
  const shop = await openFreeShop(sendFreely, { policy: { bumpAfter: 600 } })
  const [orderId = '', next = ''] = await storeOrders(shop, 2)
  const hash = await sendInto(shop, orderId)
  const sent = await reader.getTransaction({ hash })
  const faster = await reader.request({
    method: 'eth_sendTransaction',
    params: [
      {
        from: sent.from,
        to: sent.to,
        data: sent.input,
        gas: `0x${sent.gas.toString(16)}`,
        nonce: `0x${sent.nonce.toString(16)}`,
        gasPrice: `0x${(10n ** 12n).toString(16)}`,
      },
    ],
  } as never)
  expect(faster).not.toBe(hash)
  await control.setAutomine(true)
  await control.mine({ blocks: 1 })
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'captured',
    order: { capture: { transactionHash: faster } },
  })
  expect(await readOpen(shop)).toEqual([])
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  expect(await timesPaid(shop, [orderId, next])).toEqual([1, 1])
})

test('an order that stands still in the wallet gives the submitter free once its signature is dead', async () => {
  const shop = await openFreeShop(sendFreely, { policy: { bumpAfter: 600 } })
  const [orderId = ''] = await storeOrders(shop, 1)
  await offerLonger(shop, orderId, 3000n)
  const hash = await sendInto(shop, orderId)
  await control.dropTransaction({ hash })
  await control.setAutomine(true)
  await chain.warp(1000)
  const { timestamp: now } = await reader.getBlock()
  const [next = ''] = await storeOrders(shop, 1, { now })
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  const { orders, transactions } = await rowsOf(shop, [orderId])
  expect(orders).toMatchObject([{ state: 'stored', reason: 'expired' }])
  expect(transactions).toMatchObject([{ inFlight: false }])
})

/** The buyer could have signed for longer than the signature is valid. */
async function offerLonger(
  shop: Shop,
  orderId: string,
  seconds: bigint,
): Promise<void> {
  await shop.context.store.write(async (tables) => {
    const [attempt] = await tables.attempts.find({ orderIds: [orderId] })
    if (!attempt) throw new Error('There is no attempt.')
    const validBefore = attempt.validBefore + seconds
    await tables.attempts.update([{ ...attempt, validBefore }])
  })
}

test('a wallet that gives no answer about one order is asked for the others', async () => {
  let asked = 0
  const send: Send = async (pass, fields) => {
    asked++
    if (asked === 1) throw new Error('fetch failed')
    return sendFreely(pass, fields)
  }
  const shop = await openFreeShop(send, { policy: { bumpAfter: 1 } })
  const [silent = '', next = ''] = await storeOrders(shop, 2)
  expect(await capture(shop, silent, 300)).toMatchObject({ status: 'unknown' })
  expect(await capture(shop, next)).toMatchObject({ status: 'captured' })
  expect(asked).toBe(2)
  expect(await rowsOf(shop, [silent])).toMatchObject({
    orders: [{ state: 'capturing' }],
    transactions: [{ inFlight: true, hash: undefined }],
  })
  await chain.warp(1000)
  expect(await capture(shop, silent)).toMatchObject({ reason: 'expired' })
  expect(asked).toBe(2)
  expect(await timesPaid(shop, [silent, next])).toEqual([0, 1])
})

test.each([true, false])(
  'a wallet that fails is asked for the next order after a pause (its own nonces: %s)',
  async (ignoresNonce) => {
    let asked = 0
    const send: Send = async () => {
      asked++
      throw new Error('fetch failed')
    }
    const shop = await openFreeShop(send, { policy: { bumpAfter: 600 } })
    await setSubmitterValue(shop, { nextNonce: 0, ignoresNonce })
    const ids = await storeOrders(shop, 3)
    await Promise.all(ids.map((id) => capture(shop, id, 1500)))
    expect(asked).toBe(1)
    const { orders } = await rowsOf(shop, ids)
    expect(orders.map(({ state }) => state).sort()).toEqual([
      'capturing',
      'stored',
      'stored',
    ])
  },
)
