import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { getHealth } from '../../../../src/orders/verbs/getHealth.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  randomHash,
  rpcError,
} from '../../support/desk.js'
import {
  asidesOf,
  mineBlocks,
  orderOf,
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

/** A context over a node whose receipts `answer` may change. */
function openContext() {
  const node: { answer: Answer | undefined } = { answer: undefined }
  const { client } = fakeNode(chain, async (asked, forward) =>
    node.answer && asked.method === 'eth_getTransactionReceipt'
      ? node.answer(asked, forward)
      : forward(),
  )
  const tokens = [{ client, token: chain.token }]
  return { node, context: contextOf(chain, { tokens }) }
}

async function capture(context: OrdersContext) {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const captured = capturePayment(chain.clients.merchant, { payment })
  return { id, hash: await mined(chain, captured) }
}

test('an order whose receipt the node has no more is put aside until its next try, and keeps no other from its finality', async () => {
  const { node, context } = openContext()
  const waiting = new Set<string>()
  const watcher = watchOf(context, {
    reconcileEvery: 0,
    asides: asidesOf(context, {
      onPut: (name) => waiting.add(name),
      // Ends when the test says so, however slow the machine is.
      isWaiting: (name) => waiting.has(name),
    }),
  })
  await watcher.look()
  const [stuck, other] = [await capture(context), await capture(context)]
  await watcher.look()
  await mineBlocks(chain, 8)
  let asked = 0
  node.answer = ({ params }, forward) => {
    if (Object(params)[0] !== stuck.hash) return forward()
    asked++
    return null
  }
  for (let at = 0; at < 4; at++) await watcher.look()
  expect((await orderOf(context, other.id)).finality).toBe('finalized')
  expect((await orderOf(context, stuck.id)).finality).toBe('included')
  expect(asked).toBe(1)
  await watcher.asides.save(watcher.lease())
  const [health] = (await getHealth(context)).destinations
  expect(health?.putAside).toMatchObject([
    { what: stuck.id, reason: 'NodeAnswerError' },
  ])
  node.answer = undefined
  waiting.clear()
  await watcher.look()
  expect((await orderOf(context, stuck.id)).finality).toBe('finalized')
})

test('a hundred older orders without an answer keep no newer one from its finality', async () => {
  const { node, context } = openContext()
  const look = watcherOf(context)
  await look()
  const payment = await draft(chain)
  for (let at = 0; at < 100; at++) {
    const message = { ...payment.message, nonce: randomHash() }
    const order = {
      state: 'captured',
      finality: 'included',
      settledHash: randomHash(),
      settledBlock: 1n,
    } as const
    await putOrder(context, { ...payment, message }, { order })
  }
  const newer = await capture(context)
  await look()
  await mineBlocks(chain, 8)
  node.answer = ({ params }, forward) =>
    Object(params)[0] === newer.hash
      ? forward()
      : Promise.reject(rpcError(-32000, 'receipt is broken'))
  await look()
  await look()
  expect((await orderOf(context, newer.id)).finality).toBe('finalized')
})
