import { startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  rowsOf,
  type Shop,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'
import {
  openWalletShop,
  readOpen,
  readSubmitterValue,
  sendFreely,
  setSubmitterValue,
} from '../../support/walletShop.js'

const chain = await startDevChain({ blockTime: 0, accounts: 20 })
const { test: control, public: reader } = chain.clients
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
afterEach(() => control.setAutomine(true))

const addresses = chain.accounts.slice(5).map(({ address }) => address)

type FreeShop = {
  shop: Shop
  /** Most that were in flight when the wallet was asked, since the last reset. */
  most: () => number
  asked: () => number
  /** Has the wallet's owner send something just before the next order. */
  interfere: () => void
}

/** A wallet with nonces of its own, which happen to match at first. */
function openFreeShop(bumpAfter: number): FreeShop {
  let most = 0
  let asked = 0
  let isBusy = false
  const address = addresses.pop() as Address
  const shop: Shop = openWalletShop(
    chain,
    address,
    async (pass, fields) => {
      asked++
      const value = await readSubmitterValue(shop)
      if (value?.ignoresNonce === true)
        most = Math.max(most, await openNonces(shop))
      if (isBusy) {
        isBusy = false
        await pass({ from: address, to: address, value: '0x1' })
      }
      return sendFreely(pass, fields)
    },
    { policy: { bumpAfter } },
  )
  return {
    shop,
    most: () => most,
    asked: () => asked,
    interfere: () => {
      isBusy = true
    },
  }
}

test('a wallet that is taken to keep its nonces is so only until another one is seen', async () => {
  const { shop, most, interfere } = openFreeShop(600)
  const ids = await storeOrders(shop, 8)
  expect(await capture(shop, ids[0])).toMatchObject({ status: 'captured' })
  expect(await readSubmitterValue(shop)).toMatchObject({ ignoresNonce: false })

  interfere()
  expect(await capture(shop, ids[1])).toMatchObject({ status: 'captured' })
  expect(await readSubmitterValue(shop)).toMatchObject({ ignoresNonce: true })
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(most()).toBe(0)
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  // One of the wallet's owner, and no filler of ours.
  const { address } = shop.account
  expect(await reader.getTransactionCount({ address })).toBe(ids.length + 1)
})

test('what such a wallet has in flight is neither replaced nor filled', async () => {
  const { shop, asked, interfere } = openFreeShop(1)
  const [first, sent = '', ...others] = await storeOrders(shop, 4)
  expect(await capture(shop, first)).toMatchObject({ status: 'captured' })

  await control.setAutomine(false)
  interfere()
  void capture(shop, sent).catch(() => undefined)
  const ignores = async () => (await readSubmitterValue(shop))?.ignoresNonce
  await expect.poll(ignores).toBe(true)
  const before = asked()
  // The node drops what pays too little for so long.
  for (let stalls = 0; stalls < 20; stalls++) {
    await control.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 12n })
    await chain.warp(6)
  }
  expect(asked()).toBe(before)
  await control.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n })
  await control.setAutomine(true)
  await control.mine({ blocks: 1 })
  const results = await Promise.all(others.map((id) => capture(shop, id)))
  expect(results.map(({ status }) => status)).toEqual(['captured', 'captured'])
  const { transactions } = await rowsOf(shop, [sent, ...others])
  expect(transactions.map(({ kind, bump }) => [kind, bump])).toEqual(
    [sent, ...others].map(() => ['capture', 0]),
  )
  expect(await readOpen(shop)).toMatchObject([
    { movements: [{ orderId: sent, attempt: 1 }] },
  ])
})

test('an order the wallet may have sent is not sent again though its account nonce went to another', async () => {
  let asked = 0
  const address = addresses.pop() as Address
  const shop = openWalletShop(chain, address, async () => {
    asked++
    throw new Error('fetch failed')
  })
  await setSubmitterValue(shop, { nextNonce: 0, ignoresNonce: false })
  const [orderId = ''] = await storeOrders(shop, 1)
  expect(await capture(shop, orderId, 300)).toMatchObject({ status: 'unknown' })
  await reader.request({
    method: 'eth_sendTransaction',
    params: [{ from: address, to: address, value: '0x1' }],
  } as never)
  await control.mine({ blocks: 100 })
  expect(await capture(shop, orderId, 1500)).toMatchObject({
    status: 'unknown',
  })
  expect(asked).toBe(1)
  await chain.warp(1000)
  await control.mine({ blocks: 100 })
  expect(await capture(shop, orderId)).toMatchObject({ reason: 'expired' })
  await expect
    .poll(() => capture(shop, orderId, 100).then(() => readOpen(shop)))
    .toEqual([])
  expect(asked).toBe(1)
})
