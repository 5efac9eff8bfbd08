import { startDevChain } from 'countersign/devchain'
import type { TransactionSerializable } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openSubmitter } from '../../../../src/orders/account/openSubmitter.js'
import { submitterKey } from '../../../../src/orders/account/submitterState.js'
import { openAside } from '../../../../src/orders/loop/putAside.js'
import { loadOrder } from '../../../../src/orders/model/loadOrders.js'
import { refuseDue } from '../../../../src/orders/sending/refuseDue.js'
import {
  type Asked,
  fakeNode,
  fundedAccount,
  rpcError,
} from '../../support/desk.js'
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

/** A node whose answers to some requests are others, for so many of them. */
function wrongNode(
  isMeant: (asked: Asked) => boolean,
  answer: (forward: () => Promise<unknown>) => Promise<unknown>,
  times = Number.POSITIVE_INFINITY,
) {
  let left = times
  return fakeNode(chain, (asked, forward) =>
    isMeant(asked) && left-- > 0 ? answer(forward) : forward(),
  ).client
}

test('a pending count that no pool holds leads to no transaction', async () => {
  const client = wrongNode(
    ({ method, params }) =>
      method === 'eth_getTransactionCount' &&
      JSON.stringify(params).includes('pending'),
    async () => '0x1388',
    20,
  )
  const shop = await newShop({ client })
  const ids = await storeOrders(shop, 3)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  const { transactions } = await rowsOf(shop, ids)
  const nonces = transactions.map(({ nonce }) => nonce)
  expect(nonces.sort((one, other) => one - other)).toEqual([0, 1, 2])
  expect(await openNonces(shop)).toBe(0)
})

test('a failed capture is reported though the state it failed on is gone', async () => {
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const [, block] = Object(params)
    const isOld =
      method === 'eth_call' &&
      /^0x/.test(block) &&
      BigInt(block) < (await reader.getBlockNumber({ cacheTime: 0 }))
    if (isOld) throw rpcError(-32000, 'missing trie node 0f00 (path )')
    return forward()
  })
  let isPaused = false
  const answer: ShopParameters['answer'] = async ({ method }, forward) => {
    if (method !== 'eth_sendRawTransaction' || isPaused) return forward()
    isPaused = true
    await chain.pause()
    const hash = await forward()
    await control.mine({ blocks: 2 })
    return hash
  }
  const shop = await newShop({ client, answer })
  const [failing, other] = await storeOrders(shop, 2)
  expect(await capture(shop, failing)).toMatchObject({
    status: 'rejected',
    reason: 'simulationFailed',
  })
  await chain.pause(false)
  expect(await capture(shop, other)).toMatchObject({ status: 'captured' })
})

test('a signer that refuses transfers to oneself holds up no other capture', async () => {
  const account = await fundedAccount(chain)
  const signTransaction: typeof account.signTransaction = (
    transaction: TransactionSerializable,
    ...rest
  ) =>
    transaction.data === undefined || transaction.data === '0x'
      ? Promise.reject(new Error('only calls of the token are allowed'))
      : account.signTransaction(transaction, ...rest)
  const shop = openShop(chain, { account: { ...account, signTransaction } })
  await control.setAutomine(false)
  const late = await storeOrders(shop, 2)
  const lateResults = Promise.all(late.map((id) => capture(shop, id, 30_000)))
  await expect.poll(() => openNonces(shop)).toBe(2)
  await control.request({ method: 'anvil_dropAllTransactions' } as never)
  await chain.warp(1000)
  await control.setAutomine(true)
  const [next] = await storeOrders(shop, 1)
  expect(await capture(shop, next, 30_000)).toMatchObject({
    status: 'captured',
  })
  expect(await lateResults).toMatchObject([
    { status: 'rejected', reason: 'expired' },
    { status: 'rejected', reason: 'expired' },
  ])
  expect(await openNonces(shop)).toBe(0)
  expect(shop.seen.map(({ attributes }) => attributes.what)).toContain(
    'replace nonce 0',
  )
})

test('receipts that lag behind the count are not taken for a foreign sender', async () => {
  const first = new Map<string, number>()
  const client = fakeNode(chain, ({ method, params }, forward) => {
    const none = { eth_getTransactionReceipt: null, eth_getLogs: [] }
    if (!Object.hasOwn(none, method)) return forward()
    const hash = method === 'eth_getLogs' ? method : String(params)
    const since = first.get(hash) ?? performance.now()
    first.set(hash, since)
    const isLate = performance.now() - since < 400
    return isLate ? Promise.resolve(Object(none)[method]) : forward()
  }).client
  const shop = await newShop({ client })
  const ids = await storeOrders(shop, 4)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  const { events } = await rowsOf(shop, ids)
  expect(events.filter(({ type }) => type === 'submitterShared')).toEqual([])
})

test('payments that always make a node fail leave their places to others', async () => {
  const signer = await fundedAccount(chain, 200_000_000n)
  const payer = signer.address.slice(2).toLowerCase()
  const client = wrongNode(
    ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(payer),
    () => Promise.reject(rpcError(-32603, 'internal error')),
  )
  const shop = await newShop({ client })
  const theirs = await storeOrders(shop, 20, { signer })
  const [other] = await storeOrders(shop, 1)
  const results = captureAll(shop, theirs, 1_000)
  expect(await capture(shop, other, 50_000)).toMatchObject({
    status: 'captured',
  })
  expect(new Set(await results)).toEqual(new Set(['unknown']))
})

test('one look at a head far ahead refuses nothing, and replaces nothing', async () => {
  const far = `0x${(2n ** 33n).toString(16)}`
  let asked = 0
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const answer = await forward()
    const isHead =
      method === 'eth_getBlockByNumber' &&
      JSON.stringify(params).includes('latest')
    return isHead && ++asked % 2 === 1
      ? { ...Object(answer), number: '0xffffff', timestamp: far }
      : answer
  })
  const shop = await newShop({ client, policy: { capture: 'onAccept' } })
  const ids = await storeOrders(shop, 4)
  expect(new Set(await captureAll(shop, ids))).toEqual(new Set(['captured']))
  const { transactions, events } = await rowsOf(shop, ids)
  expect(transactions.map(({ kind }) => kind)).toEqual(ids.map(() => 'capture'))
  const types = events.map(({ type }) => type)
  expect(types).not.toContain('captureRejected')
  expect(await timesPaid(shop, ids)).toEqual([1, 1, 1, 1])
})

test('a payment nonce that only a rehearsal shows as spent refuses no order', async () => {
  const shop = await newShop()
  const [id = ''] = await storeOrders(shop, 1)
  const { context } = shop
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
  const stored = await context.store.read((tables) =>
    loadOrder(tables, context, id),
  )
  if (!submitter) throw new Error('The submitter is taken.')
  const refuse = () =>
    refuseDue(context, submitter, [{ stored, reason: 'consumed' }], 0n)
  await refuse()
  expect(aside.isWaiting(id)).toBe(true)
  await refuse()
  // The second pause is twice as long as the first, which is 100 ms.
  expect(aside.put(id, new Error('again'))).toBe(400)
  const { orders, events } = await rowsOf(shop, [id])
  expect(orders).toMatchObject([{ state: 'stored', reason: undefined }])
  expect(events.map(({ type }) => type)).not.toContain('captureRejected')
})

test('one wrong refusal of a rehearsal rejects no capture', async () => {
  let left = 1
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    // The chain id is the second word of what the executor returns.
    return method === 'eth_call' && left-- > 0
      ? String(answer).replaceAll('7a69', '2105')
      : answer
  })
  const shop = await newShop({ client })
  const ids = await storeOrders(shop, 1)
  expect(await captureAll(shop, ids)).toEqual(['captured'])
})
