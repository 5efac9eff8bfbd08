import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Observation } from '../../../../src/core/observeFailure.js'
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

// The node calls a block safe below 8 others, and finalized below 16.
beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 8 })
})
afterAll(() => chain.stop())

type Answer = (asked: Asked, forward: () => Promise<unknown>) => unknown

/** A watch over a node that answers as it is told to. */
function watchOver(policy: OrdersPolicy = {}) {
  const node: { answer: Answer | undefined } = { answer: undefined }
  const { client } = fakeNode(chain, async (asked, forward) =>
    node.answer ? node.answer(asked, forward) : forward(),
  )
  const seen: Observation[] = []
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    policy,
    observe: (one) => {
      seen.push(one)
    },
  })
  return { node, context, seen, look: watcherOf(context) }
}

const blockOf = (block: string) =>
  chain.clients.public.request({
    method: 'eth_getBlockByNumber',
    params: [block as 'latest', false],
  })

/** Names another block where a tag is asked for. */
const naming =
  (blocks: Record<string, unknown>): Answer =>
  async ({ method, params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    const isOther = method === 'eth_getBlockByNumber' && block in blocks
    return isOther ? blocks[block] : forward()
  }

async function capture(context: ReturnType<typeof contextOf>) {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  return id
}

test.each(['safe', 'finalized'])(
  'one wrong answer about the %s block fulfils nothing and erases nothing',
  async (tag) => {
    const { node, context, look } = watchOver({ fulfilAt: 'safe' })
    await look()
    const id = await capture(context)
    await look()
    const newest = await blockOf('latest')
    // The answers do not contradict each other.
    node.answer = naming(
      tag === 'safe' ? { safe: newest } : { safe: newest, finalized: newest },
    )
    await look()
    node.answer = undefined
    await look()
    await look()
    expect(await typesOf(context, id)).toEqual(['captured'])
    const { order, attempts } = await fileOf(context, id)
    expect(order).toMatchObject({ finality: 'included', fulfilled: undefined })
    expect(attempts[0]?.signature).toBeDefined()
  },
)

test('a final block is believed when two looks in a row name one at least as high', async () => {
  const { context, look } = watchOver()
  await look()
  const id = await capture(context)
  await look()
  await mineBlocks(chain, 16)
  await look()
  expect((await orderOf(context, id)).finality).toBe('included')
  await look()
  expect((await orderOf(context, id)).finality).toBe('finalized')
})

test('a final block whose number has another hash is not believed', async () => {
  const { node, context, look } = watchOver()
  await look()
  const id = await capture(context)
  await mineBlocks(chain, 16)
  const final = await blockOf('finalized')
  const hash = `0x${'ab'.repeat(32)}`
  const other = { ...Object(final), hash }
  node.answer = naming({ safe: other, finalized: other })
  await look()
  await look()
  await look()
  expect((await orderOf(context, id)).finality).toBe('included')
  node.answer = undefined
  await look()
  await look()
  expect((await orderOf(context, id)).finality).toBe('finalized')
})

test.each([
  ['finalized', 'safe'],
  ['safe', 'latest'],
])(
  'a %s block above the %s one is reported, and everything else goes on',
  async (upper, lower) => {
    const { node, context, seen, look } = watchOver()
    await look()
    const id = await capture(context)
    await mineBlocks(chain, 20)
    const [high, low] = [await blockOf('latest'), await blockOf('0x2')]
    node.answer = naming(
      upper === 'safe'
        ? { safe: { ...Object(high), number: '0xffffff' } }
        : { safe: low, finalized: high },
    )
    await look()
    await look()
    expect(await orderOf(context, id)).toMatchObject({
      state: 'captured',
      finality: 'included',
    })
    const [told] = seen.filter(({ name }) => name === 'watch.failed')
    expect(told?.attributes).toMatchObject({
      what: 'finality',
      error: 'NodeAnswerError',
    })
    expect(String(told?.attributes.words)).toContain(`${upper} block`)
    expect(String(told?.attributes.words)).toContain(`${lower} block`)
  },
)

test('a node that names no safe block, and a policy without numbers, is reported', async () => {
  const { node, context, seen, look } = watchOver()
  node.answer = async ({ params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    if (block === 'safe' || block === 'finalized')
      throw rpcError(-39001, `${block} block not found`)
    return forward()
  }
  await look()
  const id = await capture(context)
  await look()
  expect((await orderOf(context, id)).state).toBe('captured')
  const [told] = seen.filter(({ name }) => name === 'watch.failed')
  expect(told?.attributes).toMatchObject({ what: 'finality' })
  expect(String(told?.attributes.words)).toContain('policy.blocks')
})
