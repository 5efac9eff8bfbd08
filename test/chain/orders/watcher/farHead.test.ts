import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Observation } from '../../../../src/core/observeFailure.js'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import {
  loadCursor,
  moveCursor,
} from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  randomHash,
} from '../../support/desk.js'
import {
  destinationOf,
  eventsOf,
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

type Answer = (asked: Asked, forward: () => Promise<unknown>) => unknown

/** A watch over a node that answers as it is told to. */
function watchOver() {
  const node: { answer: Answer | undefined } = { answer: undefined }
  const { client, asked } = fakeNode(chain, async (request, forward) =>
    node.answer ? node.answer(request, forward) : forward(),
  )
  const seen: Observation[] = []
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    policy: { pollingInterval: 5 },
    observe: (one) => {
      seen.push(one)
    },
  })
  return { node, context, seen, asked, look: watcherOf(context) }
}

/** The newest block with some fields changed, as one wrong answer has them. */
const latestAs =
  (change: (block: Record<string, string>) => Record<string, string>): Answer =>
  async ({ method, params }, forward) => {
    const block = await forward()
    const [tag] = Array.isArray(params) ? params : []
    const isLatest = method === 'eth_getBlockByNumber' && tag === 'latest'
    return isLatest ? change(Object(block)) : block
  }

const farAhead = latestAs((block) => ({
  ...block,
  number: `0x${(BigInt(block.number ?? 0) + 1_000_000n).toString(16)}`,
  timestamp: `0x${(BigInt(block.timestamp ?? 0) + 2_000_000n).toString(16)}`,
  hash: randomHash(),
}))

const lateClock = latestAs((block) => ({
  ...block,
  timestamp: `0x${(BigInt(block.timestamp ?? 0) + 2_000_000n).toString(16)}`,
}))

const otherHash = latestAs((block) => ({ ...block, hash: randomHash() }))

test.each([
  ['far ahead', farAhead],
  ['of a time far ahead', lateClock],
  ['of another network', otherHash],
])(
  'one look at a head %s changes no order and halts nothing',
  async (_, wrong) => {
    const { node, context, asked, look } = watchOver()
    const captured = await draft(chain)
    const ids = [
      await putOrder(context, captured),
      await putOrder(context, await draft(chain)),
    ]
    await look()
    const before = await recordOf(context)
    node.answer = wrong
    const from = asked.length
    await look()
    // A far head is no reason to read a million blocks.
    expect(asked.length - from).toBeLessThan(30)
    expect(await recordOf(context)).toEqual(before)
    node.answer = undefined
    await mined(
      chain,
      capturePayment(chain.clients.merchant, { payment: captured }),
    )
    await look()
    expect((await orderOf(context, ids[0] ?? '')).state).toBe('captured')
    await mineBlocks(chain, 8)
    await chain.warp(1000)
    await look()
    await look()
    expect(await typesOf(context, ids[0])).toContain('fulfil')
    expect((await orderOf(context, ids[1] ?? '')).state).toBe('expired')
  },
)

/** Puts a cursor on record whose head this chain never had. */
async function putFarCursor(context: OrdersContext, ahead: bigint) {
  const destination = destinationOf(context)
  const cursor = await context.store.read((it) => loadCursor(it, destination))
  if (!cursor) throw new Error('no cursor')
  const number = cursor.last.number + ahead
  const last = { number, hash: randomHash() }
  const after = { ...cursor, last, seen: [...cursor.seen, last] }
  const at = { destination, lease: undefined }
  await moveCursor(context, at, { before: cursor, after })
}

test('heads on record that no node knows are reported, and dropped while the chain goes on', async () => {
  const first = watchOver()
  await mineBlocks(chain, 3)
  await reconcile(first.context)
  await putFarCursor(first.context, 5_000n)
  const { store } = first.context
  const { client } = fakeNode(chain)
  const seen: Observation[] = []
  const context = contextOf(chain, {
    store,
    tokens: [{ client, token: chain.token }],
    observe: (one) => {
      seen.push(one)
    },
  })
  const look = watcherOf(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  expect((await orderOf(context, id)).state).toBe('stored')
  const [told] = seen.filter(({ name }) => name === 'watch.failed')
  expect(told?.attributes).toMatchObject({ what: 'head' })
  for (let at = 0; at < 8; at++) {
    await mineBlocks(chain, 1)
    await look()
  }
  expect((await orderOf(context, id)).state).toBe('captured')
  await mineBlocks(chain, 8)
  await look()
  await look()
  expect(await typesOf(context, id)).toContain('fulfil')
  const cursor = await store.read((it) =>
    loadCursor(it, destinationOf(context)),
  )
  const head = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  expect(cursor?.last.number).toBeLessThanOrEqual(head)
})

test('a replica that stands still behind what was seen writes nothing, however often it is asked', async () => {
  const { node, context, look } = watchOver()
  const payment = await draft(chain)
  await putOrder(context, payment)
  await look()
  const old = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await mineBlocks(chain, 3)
  await look()
  await look()
  const before = await recordOf(context)
  node.answer = async ({ method, params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    if (method !== 'eth_getBlockByNumber') return forward()
    if (block === 'latest' || block === 'safe' || block === 'finalized')
      return chain.clients.public.request({
        method,
        params: [`0x${(old - 1n).toString(16)}`, false],
      } as never)
    return BigInt(String(block)) < old ? forward() : null
  }
  for (let at = 0; at < 12; at++) await look()
  expect(await recordOf(context)).toEqual(before)
})

test('a node that was restored to last week, and catches up, moves no cursor and is reported', async () => {
  const { node, context, look, seen } = watchOver()
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await look()
  const old = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await mineBlocks(chain, 40)
  await reconcile(context)
  await look()
  await look()
  const load = () =>
    context.store.read((it) => loadCursor(it, destinationOf(context)))
  const before = [await recordOf(context), await load()]
  let head = old - 30n
  node.answer = async ({ method, params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    if (method !== 'eth_getBlockByNumber') return forward()
    const isTag = !String(block).startsWith('0x')
    if (!isTag && BigInt(String(block)) > head) return null
    const number = isTag ? head : BigInt(String(block))
    const asked = { method, params: [`0x${number.toString(16)}`, false] }
    const found = Object(await chain.clients.public.request(asked as never))
    const timestamp = BigInt(found.timestamp) - 604_800n
    return { ...found, timestamp: `0x${timestamp.toString(16)}` }
  }
  for (let at = 0; at < 12; at++) {
    head++
    await look()
  }
  expect([await recordOf(context), await load()]).toEqual(before)
  const told = seen.filter(({ attributes }) => attributes.what === 'head')
  expect(told.length).toBeGreaterThan(0)
  node.answer = undefined
  await mineBlocks(chain, 8)
  await look()
  await look()
  expect(await typesOf(context, id)).toContain('fulfil')
})

test('a reconciliation by hand drops heads that no node knows while the chain goes on', async () => {
  const { node, context } = watchOver()
  await mineBlocks(chain, 3)
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await putFarCursor(context, 50_000_000n)
  node.answer = async ({ method, params }, forward) => {
    const [tag] = Array.isArray(params) ? params : []
    if (method === 'eth_getBlockByNumber' && tag === 'latest')
      await mineBlocks(chain, 1)
    return forward()
  }
  await reconcile(context)
  expect((await orderOf(context, id)).state).toBe('captured')
  node.answer = undefined
  await reconcile(context)
})

test('a reconciliation that is told where to start overrides a cursor no node knows', async () => {
  const { context } = watchOver()
  await mineBlocks(chain, 3)
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await putFarCursor(context, 5_000n)
  await expect(reconcile(context)).rejects.toMatchObject({ retryable: true })
  await reconcile(context, { fromBlock: 1n })
  expect((await orderOf(context, id)).state).toBe('captured')
  await reconcile(context)
  expect((await eventsOf(context)).length).toBeGreaterThan(0)
})
