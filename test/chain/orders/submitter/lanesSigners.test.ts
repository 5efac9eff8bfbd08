import { startDevChain } from 'countersign/devchain'
import type { Account, PrivateKeyAccount } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { readHealth } from '../../../../src/orders/verbs/readHealth.js'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 12 })
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

type Sign = PrivateKeyAccount['signTransaction']

/** An account that asks first whether it signs. */
async function openSigner(isHanging: (transaction: object) => boolean) {
  const account = await fundedAccount(chain)
  let asked = 0
  let answerAll = () => {}
  const released = new Promise<void>((resolve) => {
    answerAll = resolve
  })
  const signTransaction: Sign = async (transaction, options) => {
    if (isHanging(transaction)) {
      asked++
      await released
    }
    return account.signTransaction(transaction, options)
  }
  const signer: Account = { ...account, signTransaction }
  return { signer, account, asked: () => asked, answerAll }
}

test('a signer that hangs is let go after its time, and what it signs later leaves for nowhere', async () => {
  let isHanging = true
  const { signer, account, asked, answerAll } = await openSigner(
    () => isHanging,
  )
  const policy = { signTimeout: 100 }
  const shop = openShop(chain, { account: signer, policy })
  const [id = ''] = await storeOrders(shop, 1)
  const captured = capture(shop, id, 60_000)
  const failing = async () =>
    (await readHealth(shop.context)).lanes[0]?.putAside ?? []
  await expect.poll(asked, patience).toBeGreaterThan(1)
  await expect
    .poll(failing, patience)
    .toMatchObject([{ what: `sign:${id}`, reason: 'SendError' }])
  const words = shop.seen.map(({ attributes }) => attributes.words)
  expect(words.join()).toContain('the signer did not answer within 100 ms')
  isHanging = false
  answerAll()
  // What is due later is due by the time of the chain.
  const mining = setInterval(() => chain.warp(60).catch(() => undefined), 200)
  expect((await captured).status).toBe('captured')
  clearInterval(mining)
  const { address } = account
  expect(await chain.clients.public.getTransactionCount({ address })).toBe(1)
  expect((await rowsOf(shop, [id])).transactions).toHaveLength(1)
})

test('an order for which nobody signs keeps no other of its lane from its capture', async () => {
  let big = ''
  const { signer, asked } = await openSigner((transaction) => {
    const { data = '' } = transaction as { data?: string }
    return data.includes(big)
  })
  const policy = { signTimeout: 100 }
  const shop = openShop(chain, { account: signer, policy })
  const [first = '', ...others] = await storeOrders(shop, 4)
  const [attempt] = (await rowsOf(shop, [first])).attempts
  big = attempt?.nonce.slice(2) ?? ''
  const hung = capture(shop, first, 30_000)
  await expect.poll(asked, patience).toBeGreaterThan(0)
  const results = await Promise.all(others.map((id) => capture(shop, id)))
  expect(results.map(({ status }) => status)).toEqual([
    'captured',
    'captured',
    'captured',
  ])
  // It is put off ever more, and waits by then.
  const dueOf = async () => (await rowsOf(shop, [first])).orders[0]?.sendDue
  await expect.poll(dueOf, patience).toBeGreaterThan(0n)
  big = 'none'
  const mining = setInterval(() => chain.warp(10).catch(() => undefined), 200)
  expect((await hung).status).toBe('captured')
  clearInterval(mining)
  expect(await timesPaid(shop, [first, ...others])).toEqual([1, 1, 1, 1])
})

test('a wallet that hangs is let go after its time, and may have sent', async () => {
  const [address] = chain.accounts.slice(-1).map((one) => one.address)
  if (!address) throw new Error('The chain has no account.')
  const account: Account = { address, type: 'json-rpc' }
  let asked = 0
  const reader = fakeNode(chain)
  const shop = openShop(chain, {
    account,
    client: reader.client,
    policy: { walletTimeout: 100 },
    answer: ({ method }, forward) => {
      if (method !== 'eth_sendTransaction') return forward()
      asked++
      return new Promise(() => undefined)
    },
  })
  const [id = ''] = await storeOrders(shop, 1)
  const result = capture(shop, id, 20_000)
  await expect.poll(() => asked, patience).toBe(1)
  // The wallet does not hold the lane: it goes on looking at the chain.
  const looks = () => reader.methods().length
  const before = looks()
  await expect.poll(looks, patience).toBeGreaterThan(before + 4)
  const { transactions } = await rowsOf(shop, [id])
  expect(transactions).toMatchObject([{ hash: undefined, open: true }])
  await shop.engine.stop()
  expect(await result).toMatchObject({
    status: 'unknown',
    resolvedBy: 'window',
  })
  expect(asked).toBe(1)
})
