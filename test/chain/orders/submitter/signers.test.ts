import { startDevChain } from 'countersign/devchain'
import type { Account, PrivateKeyAccount } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { getSubmitterView } from '../../../../src/orders/account/getSubmitterView.js'
import { openSubmitter } from '../../../../src/orders/account/openSubmitter.js'
import { submitterKey } from '../../../../src/orders/account/submitterState.js'
import { openAside } from '../../../../src/orders/loop/putAside.js'
import { fillGaps } from '../../../../src/orders/nonces/fillGaps.js'
import { replaceTransactions } from '../../../../src/orders/nonces/replaceTransactions.js'
import { findWork } from '../../../../src/orders/sending/findDue.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import {
  capture,
  openShop,
  rowsOf,
  type Shop,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0, accounts: 12 })
afterAll(() => chain.stop())
afterEach(() => chain.clients.test.setAutomine(true))

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
    (await getHealth(shop.context)).submitters[0]?.putAside ?? []
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

test('an order for which nobody signs keeps no other of its submitter from its capture', async () => {
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

test('once a signer works again, the next capture is sent at once', async () => {
  let isDown = true
  const account = await fundedAccount(chain)
  let asked = 0
  const signTransaction: Sign = async (transaction, options) => {
    if (!isDown) return account.signTransaction(transaction, options)
    asked++
    throw new Error('no key')
  }
  const signer: Account = { ...account, signTransaction }
  const shop = openShop(chain, { account: signer })
  const ids = await storeOrders(shop, 7)
  const last = ids.pop()
  // One outage, in which one order after the other becomes due.
  for (const id of ids) {
    const before = asked
    void capture(shop, id, 600_000).catch(() => undefined)
    await expect.poll(() => asked, patience).toBeGreaterThan(before + 1)
  }
  const health = async () =>
    (await getHealth(shop.context)).submitters[0]?.putAside ?? []
  const names = ids.map((id) => ({ what: `sign:${id}` }))
  expect((await health()).map(({ what }) => what)).not.toContain('sending')
  expect(await health()).toMatchObject(names)
  isDown = false
  expect((await capture(shop, last)).status).toBe('captured')
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
  // The wallet does not hold the submitter: it goes on looking at the chain.
  const looks = () => reader.methods().length
  const before = looks()
  await expect.poll(looks, patience).toBeGreaterThan(before + 4)
  const { transactions } = await rowsOf(shop, [id])
  expect(transactions).toMatchObject([{ hash: undefined, inFlight: true }])
  await shop.engine.stop()
  expect(await result).toMatchObject({
    status: 'unknown',
    resolvedBy: 'window',
  })
  expect(asked).toBe(1)
})

/** The submitter of a shop's wallet, as its engine finds it. */
async function submitterOf({ context }: Shop) {
  const [wallet] = context.wallets
  if (!wallet) throw new Error('There is no wallet.')
  const key = submitterKey(wallet.submitter)
  const about = wallet.submitter
  const aside = openAside(context, { key, observed: 'submitter.failed', about })
  const submitter = await openSubmitter(context, {
    wallet,
    submitter: undefined,
    aside,
  })
  if (!submitter) throw new Error('The submitter is taken.')
  await findWork(context, submitter)
  const asking = { isSending: true }
  return { submitter, view: await getSubmitterView(context, submitter, asking) }
}

/** A transfer to oneself has no data. */
function isToOneself(transaction: object): boolean {
  const { data = '0x' } = transaction as { data?: string }
  return data === '0x'
}

test('a signer that hangs is asked for at most one replacement in one look', async () => {
  const { signer, asked } = await openSigner(isToOneself)
  const shop = openShop(chain, {
    account: signer,
    policy: { signTimeout: 100 },
  })
  await chain.clients.test.setAutomine(false)
  const ids = await storeOrders(shop, 3)
  const captures = ids.map((id) => capture(shop, id, 1_000))
  const sent = async () => (await rowsOf(shop, ids)).transactions.length
  await expect.poll(sent, patience).toBe(3)
  await shop.engine.stop()
  await Promise.all(captures)

  const { submitter, view } = await submitterOf(shop)
  expect(submitter.inFlight.rows).toHaveLength(3)
  // The windows of all three are over.
  const head = { ...view.head, timestamp: view.head.timestamp + 1_000_000n }
  const look = () =>
    replaceTransactions(shop.context, submitter, { ...view, head })
  await look()
  expect(asked()).toBe(1)
  await look()
  expect(asked()).toBe(2)
})

test('a signer that hangs is asked for at most one filler in one look', async () => {
  const { signer, asked } = await openSigner(isToOneself)
  const shop = openShop(chain, {
    account: signer,
    policy: { signTimeout: 100 },
  })
  const { submitter, view } = await submitterOf(shop)
  // Every look for a long time showed that these nonces are unused.
  submitter.nonces.keep({ nextNonce: 3 })
  for (let looks = 0; looks < 10; looks++)
    submitter.nonces.noticeGaps([0, 1, 2], Number.NEGATIVE_INFINITY)
  await fillGaps(shop.context, submitter, view)
  expect(asked()).toBe(1)
  await fillGaps(shop.context, submitter, view)
  expect(asked()).toBe(2)
})
