import { type DevChain, startDevChain } from 'countersign/devchain'
import { type Address, erc20Abi, type Hash } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { mine, writeContract } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { loadCursor } from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { draft, fakeNode, fundedAccount, mined } from '../../support/desk.js'
import { capture, openShop, type Shop } from '../../support/orderRows.js'
import {
  destinationOf,
  eventsOf,
  orderOf,
  typesOf,
  watcherOf,
  watchOf,
} from '../../support/watching.js'
import { putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 8 })
})
afterAll(() => chain.stop())

type NewShop = Shop & { account: PrivateKeyAccount }

/** A shop with a wallet of its own, so that nothing else reaches it. */
async function newShop(
  parameters: Partial<Parameters<typeof openShop>[1]> = {},
): Promise<NewShop> {
  const account = await fundedAccount(chain)
  return { ...openShop(chain, { ...parameters, account }), account }
}

async function give(to: Address, value: bigint): Promise<Hash> {
  return mined(
    chain,
    writeContract(chain.clients.payer, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [to, value],
    }),
  )
}

const newOrder = async ({ context, account }: NewShop) =>
  putOrder(context, await draft(chain, { to: account.address }))

test('without a worker an audit covers every order, and shows what is not on record', async () => {
  const shop = await newShop()
  const id = await newOrder(shop)
  const { blockNumber: before } = await headOf()
  await mine(chain.clients.test, { blocks: 40 })
  expect((await capture(shop, id)).status).toBe('captured')
  await mine(chain.clients.test, { blocks: 40 })
  expect(await auditOrders(shop.context)).toMatchObject({
    ok: true,
    destinations: [{ chain: { count: 1 }, captured: { count: 1 } }],
  })
  const stray = await give(shop.account.address, 5n)
  const audit = await auditOrders(shop.context)
  const { blockNumber: after } = await headOf()
  expect(audit).toMatchObject({
    ok: false,
    destinations: [
      {
        toBlock: after,
        chain: { count: 2 },
        captured: { count: 1, value: 12_500_000n },
        differences: [{ transactionHash: stray, onChain: 5n }],
      },
    ],
  })
  expect(audit.destinations[0]?.fromBlock).toBeLessThanOrEqual(before)
})

const headOf = async () => ({
  blockNumber: await chain.clients.public.getBlockNumber({ cacheTime: 0 }),
})

test('an audit right after a reconciliation is exact, also where a worker began after the first order', async () => {
  const shop = await newShop()
  const { context, account } = shop
  expect((await capture(shop, await newOrder(shop))).status).toBe('captured')
  await give(account.address, 7n)
  await chain.warp(2000)
  await mine(chain.clients.test, { blocks: 20 })
  // A worker begins with what is open, which is nothing.
  await watcherOf(context)()
  expect((await auditOrders(context)).ok).toBe(false)
  await reconcile(context)
  expect(await auditOrders(context)).toMatchObject({
    ok: true,
    destinations: [
      { captured: { count: 1 }, unmatched: { count: 1, value: 7n } },
    ],
  })
  expect(await typesOf(context)).toEqual(['unmatched'])
  // What was read once is not read again.
  const { from } = (await context.store.read((tables) =>
    loadCursor(tables, destinationOf(context)),
  )) ?? { from: -1n }
  const [again] = (await reconcile(context)).destinations
  expect(again?.fromBlock).toBeGreaterThanOrEqual(from)
  expect(again?.captured).toBe(0)
})

test('an audit right after 20 fulfil events covers all of their captures', async () => {
  const shop = await newShop({ policy: { fulfilAt: 'included' } })
  const { context } = shop
  // It reconciles at its first look, and not again for ten seconds.
  const { look } = watchOf(context)
  await look()
  const ids: string[] = []
  for (let at = 0; at < 20; at++) ids.push(await newOrder(shop))
  await Promise.all(ids.map((id) => capture(shop, id, 60_000)))
  await look()
  const events = await eventsOf(context)
  expect(events.filter(({ type }) => type === 'fulfil')).toHaveLength(20)
  expect(await auditOrders(context)).toMatchObject({
    ok: true,
    destinations: [{ chain: { count: 20 }, captured: { count: 20 } }],
  })
})

test('what is recorded while an audit reads is no difference', async () => {
  const shop = await newShop()
  const { context } = shop
  const id = await newOrder(shop)
  await reconcile(context)
  let isHeld = true
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (method === 'eth_getLogs' && isHeld) {
      isHeld = false
      expect((await capture(shop, id)).status).toBe('captured')
    }
    return forward()
  })
  const tokens = context.tokens.map((token) => ({ ...token, client }))
  const audit = await auditOrders({ ...context, tokens })
  expect(audit.ok).toBe(true)
})

test('a record that is ahead of the chain is a difference, and one replica behind is waited for', async () => {
  const shop = await newShop()
  const { context } = shop
  await capture(shop, await newOrder(shop))
  const { blockNumber } = await headOf()
  let behind = 3
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const isHead = method === 'eth_getBlockByNumber'
    const isLatest = Array.isArray(params) && params[0] === 'latest'
    if (!isHead || !isLatest || behind-- <= 0) return forward()
    return chain.clients.public.request({
      method: 'eth_getBlockByNumber',
      params: [`0x${(blockNumber - 1n).toString(16)}`, false],
    })
  })
  const tokens = context.tokens.map((token) => ({ ...token, client }))
  const lagging = { ...context, tokens }
  expect((await auditOrders(lagging)).ok).toBe(true)
  behind = Number.POSITIVE_INFINITY
  expect(await auditOrders(lagging)).toMatchObject({
    ok: false,
    destinations: [
      {
        toBlock: blockNumber - 1n,
        chain: { count: 0 },
        captured: { count: 1 },
        differences: [{ onRecord: 12_500_000n, onChain: undefined }],
      },
    ],
  })
})

test('an audit of a range compares what is in it', async () => {
  const shop = await newShop()
  const { context, account } = shop
  await capture(shop, await newOrder(shop))
  const { blockNumber } = await headOf()
  await give(account.address, 3n)
  const until = (toBlock: bigint) => auditOrders(context, { toBlock })
  expect(await until(blockNumber)).toMatchObject({
    ok: true,
    destinations: [{ toBlock: blockNumber, captured: { count: 1 } }],
  })
  expect(await until(blockNumber + 1n)).toMatchObject({ ok: false })
  expect(await until(blockNumber - 1n)).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: 0 } }],
  })
  expect(await until(0n)).toMatchObject({
    ok: true,
    destinations: [{ fromBlock: 0n, toBlock: 0n }],
  })
  const fromBlock = blockNumber + 1n
  expect(await auditOrders(context, { fromBlock })).toMatchObject({
    ok: false,
    destinations: [{ fromBlock, differences: [{ onChain: 3n }] }],
  })
})

test('a shop without orders has nothing to compare', async () => {
  const { context } = await newShop()
  const { blockNumber } = await headOf()
  expect(await auditOrders(context)).toMatchObject({
    ok: true,
    destinations: [{ fromBlock: blockNumber, toBlock: blockNumber }],
  })
})

/** A node that aborts a signal at its n-th request, and is silent from then. */
function abortingNode(stop: AbortController, at: number, reason: unknown) {
  let count = 0
  return fakeNode(chain, (_, forward) => {
    count++
    if (count < at) return forward()
    stop.abort(reason)
    return new Promise(() => undefined)
  })
}

test.each(['audit', 'reconcile'] as const)(
  'at whichever request its signal aborts, its %s ends with the reason and asks nothing more',
  async (verb) => {
    const shop = await newShop()
    const { context } = shop
    await capture(shop, await newOrder(shop))
    await mine(chain.clients.test, { blocks: 3 })
    const run = verb === 'audit' ? auditOrders : reconcile
    let isDone = false
    for (let at = 1; !isDone; at++) {
      const stop = new AbortController()
      const reason = new Error('the client left')
      const { client, asked } = abortingNode(stop, at, reason)
      const tokens = context.tokens.map((token) => ({ ...token, client }))
      const { signal } = stop
      const error = await run({ ...context, tokens, signal }).catch((e) => e)
      isDone = asked.length < at
      if (isDone) break
      expect(error).toBe(reason)
      const before = asked.length
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(asked.length).toBe(before)
    }
    expect(isDone).toBe(true)
  },
)

test.each([auditOrders, reconcile])(
  'under a signal that is over nothing is asked or read',
  async (run) => {
    const { context } = await newShop()
    const { client, asked } = fakeNode(chain)
    const signal = AbortSignal.abort('over')
    const tokens = context.tokens.map((token) => ({ ...token, client }))
    const read = () => {
      throw new Error('the store was read')
    }
    const store = { ...context.store, read }
    await expect(run({ ...context, tokens, store, signal })).rejects.toBe(
      'over',
    )
    expect(asked).toEqual([])
  },
)

test('an audit ends between two pages of the record', async () => {
  const shop = await newShop()
  const { context } = shop
  const id = await newOrder(shop)
  await capture(shop, id)
  const { settledBlock } = await orderOf(context, id)
  const stop = new AbortController()
  let pages = 0
  const { store } = context
  const endless: typeof store.read = (work) =>
    store.read((tables) =>
      work({
        ...tables,
        proofs: {
          find: async (query) => {
            const rows = await tables.proofs.find(query)
            if (!('destinations' in query) || query.limit === 1) return rows
            pages++
            if (pages === 3) stop.abort('enough')
            if (pages > 50) throw new Error('it went on')
            const [row] = rows
            return Array.from({ length: query.limit }, (_, at) => ({
              ...(row ?? Object()),
              logIndex: at,
              blockNumber: (settledBlock ?? 0n) + BigInt(pages),
            }))
          },
        },
      }),
    )
  const parameters = { ...context, store: { ...store, read: endless } }
  await expect(
    auditOrders({ ...parameters, signal: stop.signal }),
  ).rejects.toBe('enough')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(pages).toBeLessThanOrEqual(4)
})
