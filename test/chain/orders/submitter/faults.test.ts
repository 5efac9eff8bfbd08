import { startDevChain } from 'countersign/devchain'
import { parseTransaction, type TransactionSerialized } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import { fakeNode, fundedAccount, rpcError } from '../../support/desk.js'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  openShop,
  rowsOf,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control, public: reader } = chain.clients
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
afterEach(() => control.setAutomine(true))

const newShop = async (parameters: Partial<ShopParameters> = {}) =>
  openShop(chain, { account: await fundedAccount(chain), ...parameters })

/** Milliseconds that nothing should need, however slow the machine is. */
const patience = { timeout: 300_000 }

/**
 * A node that lets chain time pass when the submitter has looked since the last
 * time, so that no payment's window ends while a slow machine looks.
 */
function openSlowNode() {
  const { client, methods } = fakeNode(chain)
  const looks = () =>
    methods().filter((method) => method === 'eth_getBlockByNumber').length
  const warpSeen = async (seconds: number) => {
    const before = looks()
    await chain.warp(seconds)
    await expect.poll(looks, patience).toBeGreaterThan(before + 2)
  }
  return { client, warpSeen }
}

type Fail = (
  forward: () => Promise<unknown>,
  raw: TransactionSerialized,
) => Promise<unknown>

/** Lets broadcasts go wrong, the first of each of these bytes only. */
function failFirst(fail: Fail): NonNullable<ShopParameters['answer']> {
  const sent = new Set<string>()
  return ({ method, params }, forward) => {
    const raw = String(params)
    if (method !== 'eth_sendRawTransaction' || sent.has(raw)) return forward()
    sent.add(raw)
    return fail(forward, raw as TransactionSerialized)
  }
}

const forgetPool = () =>
  control.request({ method: 'anvil_dropAllTransactions' } as never)

const refuse = (words: string) => Promise.reject(rpcError(-32000, words))

const faults: [string, Fail][] = [
  ['is lost on its way', () => Promise.reject(new Error('fetch failed'))],
  [
    'arrives, and its answer is lost',
    async (forward) => {
      await forward()
      throw new Error('fetch failed')
    },
  ],
  [
    'is taken and answered with an error',
    async (forward) => {
      await forward()
      return refuse('internal failure')
    },
  ],
  [
    'arrives twice',
    async (forward) => {
      await forward()
      return forward()
    },
  ],
  ['is refused as of a nonce too low', () => refuse('nonce too low')],
  ['finds the pool full', () => refuse('txpool is full')],
  ['is swallowed', async () => `0x${'1'.repeat(64)}`],
]

test.each(faults)('a broadcast that %s is captured once', async (_, fail) => {
  let place = 0
  const answer = failFirst((forward, raw) =>
    place++ % 3 === 1 ? fail(forward, raw) : forward(),
  )
  const shop = await newShop({ answer })
  const ids = await storeOrders(shop, 8)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  const { transactions } = await rowsOf(shop, ids)
  // On a slow machine a fee is raised: that is a row more at the same nonce.
  expect(new Set(transactions.map(({ nonce }) => nonce)).size).toBe(8)
  expect(await openNonces(shop)).toBe(0)
})

test('what is underpriced goes out again at its nonce, for more', async () => {
  let isRefused = false
  const answer = failFirst((forward, raw) => {
    if (isRefused || parseTransaction(raw).nonce !== 1) return forward()
    isRefused = true
    return refuse('transaction underpriced')
  })
  const shop = await newShop({ answer })
  const ids = await storeOrders(shop, 3)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  const { transactions } = await rowsOf(shop, ids)
  const bumped = transactions.filter(({ nonce }) => nonce === 1)
  expect(bumped.map(({ bump, inFlight }) => [bump, inFlight])).toEqual([
    [0, false],
    [1, false],
  ])
  const [first, second] = bumped
  const least = ((first?.maxFeePerGas ?? 0n) * 9n) / 8n
  expect(second?.maxFeePerGas).toBeGreaterThanOrEqual(least)
})

test('a node that finds every price too low does not drive it up', async () => {
  const answer = failFirst(() => refuse('transaction underpriced'))
  const shop = await newShop({ answer })
  const ids = await storeOrders(shop, 1)
  // What was refused is sent again as it is, and then it is taken.
  expect(await captureAll(shop, ids)).toEqual(['captured'])
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.map(({ bump }) => bump)).toEqual([0, 1])
})

test('a node that admits few of a sender is waited for', async () => {
  const taken = new Set<number>()
  const account = await fundedAccount(chain)
  const { address } = account
  const answer: ShopParameters['answer'] = async (asked, forward) => {
    if (asked.method !== 'eth_sendRawTransaction') return forward()
    const raw = String(asked.params) as TransactionSerialized
    const { nonce = 0 } = parseTransaction(raw)
    const count = await reader.getTransactionCount({ address })
    if (nonce >= count + 16) return refuse('txpool is full')
    taken.add(nonce)
    return forward()
  }
  const shop = openShop(chain, {
    account,
    answer,
    policy: { maxInFlight: 100 },
  })
  const ids = await storeOrders(shop, 100)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual(ids.map(() => 1))
  expect(taken.size).toBe(100)
  expect(await openNonces(shop)).toBe(0)
})

test('payments a node fails to play hold up nobody else', async () => {
  const signer = await fundedAccount(chain, 200_000_000n)
  const payer = signer.address.slice(2).toLowerCase()
  const { client } = fakeNode(chain, ({ method, params }, forward) => {
    const isTheirs = JSON.stringify(params).includes(payer)
    return method === 'eth_call' && isTheirs
      ? Promise.reject(rpcError(-32603, 'internal error'))
      : forward()
  })
  const shop = await newShop({ client, policy: { maxInFlight: 200 } })
  const theirs = await storeOrders(shop, 100, { signer })
  const [other] = await storeOrders(shop, 1)
  const results = captureAll(shop, theirs, 2_000)
  expect(await capture(shop, other)).toMatchObject({
    status: 'captured',
  })
  expect(new Set(await results)).toEqual(new Set(['unknown']))
})

test('a foreign transaction that takes a nonce is told, and the order goes under another', async () => {
  const account = await fundedAccount(chain)
  const { address } = account
  const foreign = await account.signTransaction({
    chainId: 31337,
    to: address,
    nonce: 1,
    gas: 21_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  await control.setAutomine(false)
  const shop = openShop(chain, { account })
  const ids = await storeOrders(shop, 3)
  const results = captureAll(shop, ids)
  await expect.poll(() => openNonces(shop), patience).toBe(3)
  const hash = await reader.sendRawTransaction({
    serializedTransaction: foreign,
  })
  await control.mine({ blocks: 1 })
  await control.setAutomine(true)
  expect((await reader.getTransactionReceipt({ hash })).status).toBe('success')
  // The chain has to be sure of it before anything is signed anew.
  await expect
    .poll(async () => {
      const { events } = await rowsOf(shop, ids)
      return events.filter(({ type }) => type === 'submitterShared').length
    }, patience)
    .toBe(1)
  await control.mine({ blocks: 2 })
  expect(new Set(await results)).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual([1, 1, 1])
  const { events, transactions } = await rowsOf(shop, ids)
  expect(
    events
      .filter(({ type }) => type === 'submitterShared')
      .map(({ data }) => data),
  ).toEqual([{ account: address.toLowerCase(), nonce: 1 }])
  expect(
    transactions.map(({ nonce }) => nonce).sort((one, other) => one - other),
  ).toEqual([0, 1, 2, 3])
})

/** Hashes 96 KB before it agrees to any signature (ERC-1271). */
const slowToAgree = '0x6201800060002050631626ba7e60e01b60005260206000f3'

test('a stuck head is sent again for more, and what is behind it goes ahead', async () => {
  const { client, warpSeen } = openSlowNode()
  const shop = await newShop({ client, policy: { bumpAfter: 5 } })
  await control.setAutomine(false)
  const ids = await storeOrders(shop, 3)
  const results = captureAll(shop, ids)
  await expect.poll(() => openNonces(shop), patience).toBe(3)
  // The node forgets what it took, and the price rises.
  await forgetPool()
  const { baseFeePerGas } = await reader.getBlock()
  await control.setNextBlockBaseFeePerGas({
    baseFeePerGas: (baseFeePerGas ?? 1n) * 8n,
  })
  await chain.warp(10)
  await expect
    .poll(async () => {
      await warpSeen(6)
      const { transactions } = await rowsOf(shop, ids)
      return transactions.filter(({ bump }) => bump > 0).length
    }, patience)
    .toBeGreaterThan(0)
  await control.setAutomine(true)
  await chain.warp(6)
  expect(new Set(await results)).toEqual(new Set(['captured']))
  expect(await timesPaid(shop, ids)).toEqual([1, 1, 1])
})

test('a stuck capture that takes more gas by now is sent again with more', async () => {
  const policy = { bumpAfter: 5, contractPayers: 'accept' } as const
  const { client, warpSeen } = openSlowNode()
  const shop = await newShop({ client, policy })
  const signer = await fundedAccount(chain, 100_000_000n)
  await control.setAutomine(false)
  const ids = await storeOrders(shop, 1, { signer })
  const results = captureAll(shop, ids)
  await expect.poll(() => openNonces(shop), patience).toBe(1)
  await forgetPool()
  // The payer's account is a wallet by now whose code takes some time to agree.
  await control.setCode({ address: signer.address, bytecode: slowToAgree })
  await expect
    .poll(async () => {
      await warpSeen(6)
      const { transactions } = await rowsOf(shop, ids)
      return transactions.some(({ bump }) => bump > 0)
    }, patience)
    .toBe(true)
  await control.setAutomine(true)
  await chain.warp(6)
  expect(await results).toEqual(['captured'])
})

test('a payment whose window ends in the pool is given up at its nonce', async () => {
  const shop = await newShop()
  await control.setAutomine(false)
  const ids = await storeOrders(shop, 2)
  const results = Promise.all(ids.map((id) => capture(shop, id)))
  await expect.poll(() => openNonces(shop), patience).toBe(2)
  await forgetPool()
  await chain.warp(1000)
  await control.setAutomine(true)
  expect(await results).toMatchObject(
    ids.map(() => ({ status: 'rejected', reason: 'expired' })),
  )
  const { transactions } = await rowsOf(shop, ids)
  expect(
    transactions.map(({ kind, inFlight }) => [kind, inFlight]).sort(),
  ).toEqual([
    ['capture', false],
    ['capture', false],
    ['filler', false],
    ['filler', false],
  ])
  expect(await timesPaid(shop, ids)).toEqual([0, 0])
  expect(await openNonces(shop)).toBe(0)
})

test('a release whose gas could not be estimated is sent again for what it takes', async () => {
  let failures = 1
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const [{ from, to } = {}] = params as { from?: string; to?: string }[]
    if (method !== 'eth_estimateGas' || from !== to) return forward()
    if (failures-- > 0) throw rpcError(-32005, 'rate limit')
    return '0xea60'
  })
  // As rollups do whose gas pays for their first layer too.
  const answer: ShopParameters['answer'] = ({ method, params }, forward) => {
    if (method !== 'eth_sendRawTransaction') return forward()
    const raw = String(params) as TransactionSerialized
    const { gas = 0n } = parseTransaction(raw)
    return gas > 60_000n ? forward() : refuse('intrinsic gas too low')
  }
  const shop = await newShop({ answer, client, policy: { bumpAfter: 5 } })
  await control.setAutomine(false)
  const ids = await storeOrders(shop, 1)
  const results = captureAll(shop, ids)
  await expect.poll(() => openNonces(shop), patience).toBe(1)
  await forgetPool()
  await chain.warp(1000)
  await control.setAutomine(true)
  await expect
    .poll(
      async () => {
        await chain.warp(6)
        return (await rowsOf(shop, ids)).transactions.some(
          ({ inFlight }) => inFlight,
        )
      },
      { ...patience, interval: 200 },
    )
    .toBe(false)
  expect(await results).toEqual(['rejected'])
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.map(({ kind, gas }) => [kind, gas])).toEqual([
    ['capture', transactions[0]?.gas],
    ['filler', 21_000n],
    ['filler', 75_000n],
  ])
})

test('a capture that fails after its rehearsal passed makes its payer wait', async () => {
  const signer = await fundedAccount(chain, 10_000_000n)
  const payer = { account: signer.address }
  const answer: ShopParameters['answer'] = async ({ method }, forward) => {
    if (method === 'eth_sendRawTransaction') await chain.block(payer)
    return forward()
  }
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const shop = openShop(chain, { account, store, answer })
  const ids = await storeOrders(shop, 3, { signer })
  const [orderId = ''] = ids
  expect(await capture(shop, orderId)).toMatchObject({
    status: 'rejected',
    reason: 'payerBlocked',
    order: { state: 'stored', needsReview: true },
  })
  await chain.block({ ...payer, blocked: false })
  const { orders, events } = await rowsOf(shop, ids)
  expect(orders.map(({ needsReview }) => needsReview)).toEqual([
    true,
    true,
    true,
  ])
  expect(events.filter(({ type }) => type === 'needsReview')).toHaveLength(3)
  await shop.engine.stop()
  const later = openShop(chain, { account, store })
  expect(await capture(later, orderId)).toMatchObject({ status: 'captured' })
  expect(
    (await rowsOf(shop, ids)).orders.map(({ needsReview }) => needsReview),
  ).toEqual([false, true, true])
})
