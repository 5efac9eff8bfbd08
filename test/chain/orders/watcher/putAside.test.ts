import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Observation } from '../../../../src/core/observeFailure.js'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import type { OrdersPolicy } from '../../../../src/orders/model/types.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  rpcError,
} from '../../support/desk.js'
import {
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
  watchOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

// The node calls a block safe below 4 others, and finalized below 8.
beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

type Answer = (asked: Asked, forward: () => Promise<unknown>) => unknown

/** A watch over a node that answers as it is told to. */
function watchOver(policy: OrdersPolicy = {}) {
  const node: { answer: Answer | undefined } = { answer: undefined }
  const { client } = fakeNode(chain, async (asked, forward) =>
    node.answer ? node.answer(asked, forward) : forward(),
  )
  const failed: unknown[] = []
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    policy,
    observe: ({ name, attributes }: Observation) => {
      if (name === 'watch.failed') failed.push(attributes.what)
    },
  })
  return { node, context, failed, look: watcherOf(context) }
}

async function capture(context: OrdersContext) {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  return { id, hash }
}

test('an order whose receipt no node gives keeps no other from its finality', async () => {
  const { node, context, failed, look } = watchOver()
  await look()
  const [stuck, other] = [await capture(context), await capture(context)]
  await look()
  await mineBlocks(chain, 8)
  node.answer = ({ method, params }, forward) =>
    method === 'eth_getTransactionReceipt' && Object(params)[0] === stuck.hash
      ? Promise.reject(rpcError(-32000, 'receipt is broken'))
      : forward()
  await look()
  await look()
  expect((await orderOf(context, other.id)).finality).toBe('finalized')
  expect((await orderOf(context, stuck.id)).finality).toBe('included')
  expect(failed).toContain(stuck.id)
  node.answer = undefined
  await look()
  expect((await orderOf(context, stuck.id)).finality).toBe('finalized')
})

test('a deadline that nears is reported while the node answers about no nonce', async () => {
  const { node, context, failed, look } = watchOver({
    capture: 'beforeDeadline',
  })
  const over = await putOrder(context, await draft(chain))
  await chain.warp(650)
  const near = await putOrder(context, await draft(chain))
  await chain.warp(650)
  node.answer = ({ method }, forward) =>
    method === 'eth_call'
      ? Promise.reject(rpcError(-32005, 'limit exceeded'))
      : forward()
  await look()
  expect((await orderOf(context, near)).requested).toBe('capture')
  expect((await orderOf(context, over)).state).toBe('stored')
  expect(failed).toEqual(['expiry'])
  node.answer = undefined
  await chain.warp(20)
  await look()
  expect((await orderOf(context, over)).state).toBe('expired')
})

test.each<[string, (word: bigint, at: number) => bigint]>([
  ['of another chain', (word, at) => (at === 2 ? 1n : word)],
  ['of an older block', (word, at) => (at === 1 ? word - 10_000n : word)],
])('an answer about nonces %s expires no order', async (_, change) => {
  const { node, context, look } = watchOver()
  const id = await putOrder(context, await draft(chain))
  await chain.warp(1000)
  node.answer = async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_call') return answer
    const text = String(answer).slice(2)
    const words = text.match(/.{1,64}/g) ?? []
    // The mark, then number, time and chain of the block that answered.
    const changed = words.map((word, at) =>
      at >= 1 && at <= 3
        ? change(BigInt(`0x${word}`), at - 1)
            .toString(16)
            .padStart(64, '0')
        : word,
    )
    return `0x${changed.join('')}`
  }
  await look()
  expect((await orderOf(context, id)).state).toBe('stored')
  node.answer = undefined
  await chain.warp(20)
  await look()
  expect((await orderOf(context, id)).state).toBe('expired')
})

test('logs that are left out once do not end a draft that was paid', async () => {
  const { node, context, look } = watchOver({ fulfilAt: 'included' })
  await look()
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(context, payment, {
    order: { state: 'drafted', payer: undefined },
    attempt: { payer: undefined, signature: undefined, spendable: false },
  })
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await chain.warp(1000)
  node.answer = ({ method }, forward) =>
    method === 'eth_getLogs' ? [] : forward()
  await look()
  expect((await orderOf(context, id)).state).toBe('drafted')
  node.answer = undefined
  await chain.warp(20)
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    unexpected: false,
  })
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil'])
})

test('a replica behind the block of an alarm does not take the alarm back', async () => {
  const { node, context, look } = watchOver()
  await look()
  const { nonce } = (await draft(chain)).message
  const asked = await draft(chain, { nonce })
  const id = await putOrder(context, asked)
  await mineBlocks(chain, 2)
  const old = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  const payment = await draft(chain, { amount: '1', nonce })
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  expect((await orderOf(context, id)).state).toBe('consumed')
  const before = await recordOf(context)
  node.answer = async ({ method, params }, forward) => {
    const [first] = Array.isArray(params) ? params : []
    if (method === 'eth_getTransactionReceipt') return null
    if (method !== 'eth_getBlockByNumber') return forward()
    if (first === 'latest')
      return chain.clients.public.request({
        method,
        params: [`0x${old.toString(16)}`, false],
      } as never)
    return BigInt(Object(await forward()).number ?? 0) > old ? null : forward()
  }
  for (let at = 0; at < 3; at++) await look()
  expect(await recordOf(context)).toEqual(before)
})

test('another network behind the same address takes no capture back', async () => {
  const { node, context, look } = watchOver({ fulfilAt: 'included' })
  await look()
  const { id } = await capture(context)
  await look()
  await look()
  const before = await recordOf(context)
  node.answer = async ({ method }, forward) => {
    if (method === 'eth_chainId') return '0x1'
    if (method === 'eth_getTransactionReceipt') return null
    if (method === 'eth_getLogs') return []
    const answer = await forward()
    return method === 'eth_getBlockByNumber' && answer
      ? { ...answer, hash: `0x${'cd'.repeat(32)}` }
      : answer
  }
  for (let at = 0; at < 3; at++)
    await expect(look()).rejects.toThrow('eth_chainId is 1, and not 31337')
  expect(await recordOf(context)).toEqual(before)
  node.answer = undefined
  await look()
  await look()
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil'])
})

test('health names what a watch put aside until it works again', async () => {
  const { node, context } = watchOver()
  const watcher = watchOf(context)
  const look = async () => {
    await watcher.look()
    await watcher.asides.save(watcher.lease())
    const [health] = (await getHealth(context)).destinations
    return health?.putAside.map(({ what, reason }) => [what, reason])
  }
  node.answer = ({ method }, forward) =>
    method === 'eth_getLogs'
      ? Promise.reject(rpcError(-32602, 'not today'))
      : forward()
  expect(await look()).toEqual([['reconciliation', 'LogRangeError']])
  node.answer = undefined
  // The pause grows from a tenth of a second; until then the part is left out.
  await expect.poll(look, { timeout: 60_000 }).toEqual([])
})

test('health says that nothing will be fulfilled where no block is ever safe', async () => {
  const answer: Answer = ({ params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    return block === 'safe' || block === 'finalized'
      ? Promise.reject(rpcError(-39001, `${block} block not found`))
      : forward()
  }
  const faultOf = async (policy: OrdersPolicy) => {
    const { node, context } = watchOver(policy)
    node.answer = answer
    return (await getHealth(context)).chains[0]?.fault
  }
  expect(await faultOf({})).toContain(
    'set policy.blocks, or no order is fulfilled',
  )
  expect(await faultOf({ blocks: { safe: 2, finalized: 4 } })).toBeUndefined()
  const { context } = watchOver()
  expect((await getHealth(context)).chains[0]?.fault).toBeUndefined()
})
