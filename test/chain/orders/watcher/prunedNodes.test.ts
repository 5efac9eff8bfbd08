import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OrdersPolicy } from '../../../../src/orders/model/types.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  rpcError,
} from '../../support/desk.js'
import {
  fileOf,
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

// The node calls a block safe below 4 others, and finalized below 8.
beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

/** Where the block stands among the parameters of what reads a state. */
const blockPlace: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
}

/** A node that keeps the state of its newest block alone. */
function prunedNode(words: string) {
  const refuse = async (
    { method, params }: Asked,
    forward: () => Promise<unknown>,
  ) => {
    const place = blockPlace[method]
    const block = place === undefined ? 'latest' : Object(params)[place]
    if (block === 'safe' || block === 'finalized') throw rpcError(-32000, words)
    if (block === 'latest' || block === 'pending') return forward()
    const head = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
    if (BigInt(block) < head) throw rpcError(-32000, words)
    return forward()
  }
  return fakeNode(chain, refuse).client
}

const wordings = [
  'missing trie node 5f8a (path ) state 0x5f8a is not available',
  'header not found',
  'historical state unavailable',
]

function prunedContext(words: string, policy: OrdersPolicy = {}) {
  const tokens = [{ client: prunedNode(words), token: chain.token }]
  return contextOf(chain, { tokens, policy })
}

test.each(wordings)(
  'an order nears its deadline, expires and loses its secrets on a node without old states (%s)',
  async (words) => {
    const context = prunedContext(words)
    const id = await putOrder(context, await draft(chain), {
      transactions: [{ raw: 'sealed', inFlight: false }],
    })
    const look = watcherOf(context)
    await chain.warp(650)
    // Some blocks are final already when the first deadline nears.
    await mineBlocks(chain, 16)
    await look()
    await chain.warp(300)
    await look()
    expect((await orderOf(context, id)).state).toBe('expired')
    await mineBlocks(chain, 16)
    await look()
    await chain.warp(20)
    await look()
    const { order, attempts, transactions } = await fileOf(context, id)
    expect(order).toMatchObject({ finality: 'finalized', lookDue: undefined })
    expect(attempts[0]).toMatchObject({
      spendable: false,
      signature: undefined,
    })
    expect(transactions[0]?.raw).toBeUndefined()
    expect(await typesOf(context, id)).toEqual(['deadlineNear', 'expired'])
  },
)

test.each(wordings)(
  'a deadline that nears is reported and acted on beside one that is over, on a node without old states (%s)',
  async (words) => {
    const policy = { capture: 'beforeDeadline', deadlineNear: 300n } as const
    const context = prunedContext(words, policy)
    const over = await putOrder(context, await draft(chain))
    await chain.warp(650)
    const near = await putOrder(context, await draft(chain))
    await chain.warp(650)
    await mineBlocks(chain, 16)
    const look = watcherOf(context)
    await look()
    await look()
    expect((await orderOf(context, over)).state).toBe('expired')
    const wanted = { requested: 'capture', sendDue: 0n }
    expect(await orderOf(context, near)).toMatchObject(wanted)
  },
)

test('a capture is settled, fulfilled and final on a node without old states', async () => {
  const context = prunedContext(wordings[0] ?? '')
  const payment = await draft(chain)
  const id = await putOrder(context, payment, {
    transactions: [{ raw: 'sealed', inFlight: false }],
  })
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  await mineBlocks(chain, 16)
  await look()
  await look()
  expect(await typesOf(context, id)).toEqual([
    'captured',
    'finalityRaised',
    'fulfil',
  ])
  const { order, attempts, transactions } = await fileOf(context, id)
  expect(order.finality).toBe('finalized')
  expect(attempts[0]?.signature).toBeUndefined()
  expect(transactions[0]?.raw).toBeUndefined()
})

test('a replica that is behind ends no order for good, though newer blocks are final', async () => {
  let isBehind = false
  const lagging = fakeNode(chain, async (asked, forward) => {
    const { method, params } = asked
    if (!isBehind || method !== 'eth_call') return forward()
    const [call, , ...rest] = Object(params)
    // The state of a block in which nothing was captured yet.
    const old = [call, `0x${oldBlock.toString(16)}`, ...rest]
    return chain.clients.public.request({ method, params: old } as never)
  })
  const tokens = [{ client: lagging.client, token: chain.token }]
  const context = contextOf(chain, { tokens })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  const oldBlock = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await chain.warp(1000)
  await mineBlocks(chain, 16)
  isBehind = true
  const { order, attempts } = await fileOf(context, id)
  await context.store.write(({ orders }) =>
    orders.update([{ ...order, lookDue: attempts[0]?.validBefore }]),
  )
  await look()
  expect((await orderOf(context, id)).state).not.toBe('expired')
})
