import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { memoryStore } from 'countersign/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contextOf as contextOfOrders } from '../../../../src/orders/contextOf.js'
import { watchKey } from '../../../../src/orders/watcher/watchKeys.js'
import { eventually } from '../../../unit/support/webhooksRun.js'
import { sqliteFile } from '../../support/chaos.js'
import { draft, fakeNode, mined, rpcError } from '../../support/desk.js'
import { recordReceipt } from '../../support/recordReceipt.js'
import { openShop, storedOrder } from '../../support/shop.js'
import { mineBlocks, watchOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

const quietInterval = 600_000
const policy = { pollingInterval: 20, quietInterval } as const

/** A watch of a chain on which nothing happens any more. */
async function openQuiet() {
  const node = fakeNode(chain)
  const context = contextOf(chain, {
    tokens: [{ client: node.client, token: chain.token }],
    policy,
  })
  const watcher = watchOf(context)
  await mineBlocks(chain, 1)
  const { nextLook } = await watcher.look()
  return { node, context, watcher, nextLook }
}

test('a quiet chain waits for the quiet interval, and a question about it asks no node', async () => {
  const { node, watcher, nextLook } = await openQuiet()
  expect(nextLook).toBeGreaterThan(policy.pollingInterval)
  expect(nextLook).toBeLessThanOrEqual(quietInterval)
  node.asked.length = 0
  expect(await watcher.findNextLook()).toBeGreaterThan(policy.pollingInterval)
  expect(node.asked).toEqual([])
})

test('a proof that another part of the worker writes is looked at at once', async () => {
  const { context, watcher } = await openQuiet()
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(context, payment)
  expect(await watcher.findNextLook()).toBeGreaterThan(policy.pollingInterval)
  const { relayer } = chain.clients
  const hash = await mined(chain, capturePayment(relayer, { payment }))
  const write = await recordReceipt(context, id, hash)
  await write()
  expect(await watcher.findNextLook()).toBe(0)
})

test('an order in flight does not end the pause, because its submitter looks', async () => {
  const { context, watcher } = await openQuiet()
  const payment = await draft(chain)
  await putOrder(context, payment, {
    order: { state: 'capturing' },
    transactions: [{ inFlight: true }],
  })
  expect(await watcher.findNextLook()).toBeGreaterThan(policy.pollingInterval)
})

test('a deadline that nears is looked at in time', async () => {
  const { context, watcher } = await openQuiet()
  const { timestamp } = await chain.clients.public.getBlock()
  await putOrder(context, await draft(chain), {
    order: { lookDue: timestamp + 30n },
  })
  const pause = await watcher.findNextLook()
  expect(pause).toBeGreaterThan(policy.pollingInterval)
  expect(pause).toBeLessThanOrEqual(30_000)
})

test.each(['memory', 'sqlite'] as const)(
  'a worker that is quiet fulfils what is captured meanwhile, in %s',
  async (kind) => {
    const store = kind === 'memory' ? memoryStore() : sqliteFile().store
    const shop = await openShop(chain, {
      store,
      policy: { ...policy, fulfilAt: 'included' },
    })
    const ending = new AbortController()
    const running = shop.orders.run({ signal: ending.signal })
    // The first look is over once the cursor is written.
    await eventually(async () => {
      const { destinations } = await shop.orders.health()
      return destinations[0]?.reconciledTo !== undefined
    }).toBe(true)
    const { id } = await storedOrder(chain, shop)
    await shop.orders.capture({ orderId: id })
    await mineBlocks(chain, 1)
    await eventually(async () => {
      const { events } = await shop.orders.events({ limit: 100 })
      return events.filter(
        ({ type, orderId }) => type === 'fulfil' && orderId === id,
      ).length
    }).toBe(1)
    ending.abort()
    await running
    await shop.orders.close()
  },
)

test('a worker that looks less often than its lease lasts keeps the watch', async () => {
  const node = fakeNode(chain)
  const shop = await openShop(chain, {
    client: node.client,
    policy: { ...policy, quietInterval: 400, lease: 300 },
  })
  const ending = new AbortController()
  const running = shop.orders.run({ signal: ending.signal })
  const looks = () =>
    node.asked.filter(({ params }) => Object(params)[0] === 'latest').length
  await eventually(async () => looks()).toBeGreaterThan(4)
  // A watch that is taken again begins anew, and asks for the chain id.
  expect(node.methods().filter((name) => name === 'eth_chainId')).toHaveLength(
    1,
  )
  ending.abort()
  await running
  await shop.orders.close()
})

test('while the node lags, a proof that no look could compare does not end the pauses', async () => {
  const chainNode: { lag: bigint } = { lag: 0n }
  const node = fakeNode(chain, async (asked, forward) => {
    const block = await forward()
    const isLatest =
      asked.method === 'eth_getBlockByNumber' &&
      Object(asked.params)[0] === 'latest'
    if (!isLatest || chainNode.lag === 0n) return block
    const number = BigInt(Object(block).number) - chainNode.lag
    return chain.clients.public.request({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    })
  })
  const context = contextOf(chain, {
    tokens: [{ client: node.client, token: chain.token }],
    policy,
  })
  const watcher = watchOf(context)
  await mineBlocks(chain, 9)
  await watcher.look()
  await mineBlocks(chain, 1)
  await watcher.look()
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const { merchant } = chain.clients
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  const write = await recordReceipt(context, id, hash)
  await write()
  chainNode.lag = 6n
  const pauses = []
  for (let at = 0; at < 3; at++) pauses.push((await watcher.look()).nextLook)
  expect(Math.min(...pauses)).toBeGreaterThan(0)
  expect(await watcher.findNextLook()).toBeGreaterThan(0)
})

test('a worker whose node fails gives the watch to one whose node works', async () => {
  const store = memoryStore()
  const fails = { isFailing: false }
  const node = fakeNode(chain, (_, forward) =>
    fails.isFailing ? Promise.reject(rpcError(-32_000, 'away')) : forward(),
  )
  const paces = { pollingInterval: 20, quietInterval: 60, lease: 300 } as const
  const first = await openShop(chain, {
    store,
    client: node.client,
    policy: paces,
  })
  const ending = new AbortController()
  const { signal } = ending
  const running = first.orders.run({ signal })
  const { context } = contextOfOrders(first.orders)
  const key = watchKey(context, { chainId: chain.chain.id })
  const holder = () => store.read((tables) => tables.getLease(key))
  await eventually(async () => (await holder())?.owner).toBe(context.owner)
  fails.isFailing = true
  // Its pauses grow until the lease runs out in one of them.
  await eventually(async () => {
    const taken = await store.takeLease({
      key,
      owner: 'another',
      milliseconds: 60_000,
    })
    return taken?.owner
  }).toBe('another')
  ending.abort()
  await running
  await first.orders.close()
})
