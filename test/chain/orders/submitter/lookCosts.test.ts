import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Account, type Hex, keccak256 } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSubmitter } from '../../../../src/orders/account/openSubmitter.js'
import { submitterKey } from '../../../../src/orders/account/submitterState.js'
import { openAside } from '../../../../src/orders/loop/putAside.js'
import {
  type SubmitterPauses,
  workSubmitter,
} from '../../../../src/orders/submitter/workSubmitter.js'
import { fakeNode, fundedAccount } from '../../support/desk.js'
import { openShop, type Shop, storeOrders } from '../../support/orderRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  await chain.clients.test.setAutomine(false)
})
afterAll(() => chain.stop())

const pauses: SubmitterPauses = {
  interval: 1_000,
  quiet: 15_000,
  isBlockwise: true,
}

/** A submitter whose node keeps what is sent to itself, and what it is asked. */
async function openQuietPool(account?: Account) {
  const { client, asked, methods } = fakeNode(chain)
  let sent = 0
  const kept: Hex[] = []
  const shop = openShop(chain, {
    account: account ?? (await fundedAccount(chain)),
    client,
    answer: async ({ method, params }, forward) => {
      if (method === 'eth_sendTransaction') return keccak256('0x')
      if (method !== 'eth_sendRawTransaction') return forward()
      sent++
      const [raw] = Object(params)
      kept.push(raw)
      return keccak256(raw)
    },
  })
  const [wallet] = shop.context.wallets
  if (!wallet) throw new Error('There is no wallet.')
  const aside = openAside(shop.context, {
    key: submitterKey(wallet.submitter),
    observed: 'submitter.failed',
    about: wallet.submitter,
  })
  const submitter = await openSubmitter(shop.context, {
    wallet,
    submitter: undefined,
    aside,
  })
  if (!submitter) throw new Error('The submitter is taken.')
  const look = async (how: Partial<SubmitterPauses> = {}) => {
    asked.length = 0
    sent = 0
    const work = { ...pauses, ...how }
    const looked = await workSubmitter(shop.context, submitter, work)
    return { ...looked, methods: methods().sort(), sent }
  }
  /** Passes the first transaction that was sent on to the chain. */
  const put = () =>
    chain.clients.public.sendRawTransaction({
      serializedTransaction: kept[0] ?? '0x',
    })
  return { shop, look, put }
}

async function request({ context }: Shop, ids: readonly string[], due = 0n) {
  await context.store.write(async (tables) => {
    const orders = await tables.orders.find({ ids })
    const requested = 'capture' as const
    await tables.orders.update(
      orders.map((order) => ({ ...order, requested, sendDue: due })),
    )
  })
}

/** Mines a block whose time is this many seconds after the last one's. */
async function mineAfter(seconds: number) {
  const { timestamp } = await chain.clients.public.getBlock()
  await chain.clients.test.setNextBlockTimestamp({
    timestamp: timestamp + BigInt(seconds),
  })
  await chain.clients.test.mine({ blocks: 1 })
}

const receipt = 'eth_getTransactionReceipt'
const inFlight = ['eth_getBlockByNumber', 'eth_getTransactionCount', receipt]

test('a transaction in flight costs three calls a look, and waits for the next block of a steady chain', async () => {
  const { shop, look } = await openQuietPool()
  await request(shop, await storeOrders(shop, 1))
  await mineAfter(1)
  expect((await look()).sent).toBe(1)
  const first = await look()
  expect(first.methods).toEqual(inFlight)
  expect(first.rest).toBeUndefined()
  // The blocks must not come faster than their times say.
  await new Promise((resolve) => setTimeout(resolve, 1_600))
  await mineAfter(1)
  await mineAfter(1)
  await look()
  await mineAfter(1)
  const steady = await look()
  expect(steady.methods).toEqual(inFlight)
  expect(steady.rest).toBe('block')
  expect(steady.next).toBeLessThanOrEqual(1_020)
  // A chain that shows transactions between two blocks is looked at meanwhile.
  const between = await look({ isBlockwise: false })
  expect(between.rest).toBeUndefined()
})

test('after five looks without news, no receipt is asked for until the count of the account shows that it exists', async () => {
  const { shop, look, put } = await openQuietPool()
  const [id = ''] = await storeOrders(shop, 1)
  await request(shop, [id])
  expect((await look()).sent).toBe(1)
  const receipts: number[] = []
  for (let looks = 0; looks < 8; looks++) {
    const { methods } = await look()
    receipts.push(methods.filter((one) => one === receipt).length)
  }
  expect(receipts).toEqual([1, 1, 1, 1, 1, 0, 0, 0])
  // On a chain with a pending block, a receipt may exist before its block.
  expect((await look({ isBlockwise: false })).methods).toContain(receipt)
  await put()
  await mineAfter(1)
  const { settled } = await look()
  expect(settled.map(({ order }) => [order.id, order.state])).toEqual([
    [id, 'captured'],
  ])
})

test('receipts of what a wallet sent are asked for at each look, because it may have used another nonce', async () => {
  const { address } = chain.accounts[5] ?? {}
  if (!address) throw new Error('There is no account.')
  const { shop, look } = await openQuietPool({ address, type: 'json-rpc' })
  await request(shop, await storeOrders(shop, 1))
  await look()
  for (let looks = 0; looks < 8; looks++)
    expect((await look()).methods).toContain(receipt)
})

test('an order that is due later costs no call before, except for the time of the chain', async () => {
  const { shop, look } = await openQuietPool()
  const ids = await storeOrders(shop, 1)
  const { timestamp } = await chain.clients.public.getBlock()
  await request(shop, ids, timestamp + 10n)
  expect((await look()).methods).toContain('eth_getBlockByNumber')
  const later = await look()
  expect(later).toMatchObject({ methods: [], rest: 'idle' })
  expect(later.next).toBeGreaterThan(1_000)
  expect(later.next).toBeLessThanOrEqual(9_000)
  // On a chain that is never quiet, its clock may be set at any time.
  expect((await look({ quiet: 1_000 })).methods).toContain(
    'eth_getBlockByNumber',
  )
  await request(shop, ids, timestamp)
  expect((await look()).sent).toBe(1)
})
