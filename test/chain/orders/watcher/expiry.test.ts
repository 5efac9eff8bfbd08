import { cancelPayment, capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createClient, custom } from 'viem'
import { getBlock } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { findEvidence } from '../../../../src/orders/evidence/findEvidence.js'
import {
  draft,
  fakeNode,
  mined,
  randomHash,
  revoke,
  rpcError,
} from '../../support/desk.js'
import {
  destinationOf,
  fileOf,
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

/** What the chain says about an order's only attempt. */
async function evidenceOf(
  context: OrdersContext,
  id: string,
  block?: 'finalized' | undefined,
) {
  const { order, attempts } = await fileOf(context, id)
  const [attempt] = attempts
  if (!attempt) throw new Error('no attempt')
  const { kinds } = context
  const asked = { order, attempt, kinds, block }
  return findEvidence(chain.clients.public, asked)
}

test('an order expires once its window is over, and finally once that block is final', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain)
  const id = await putOrder(context, payment, {
    transactions: [{ raw: 'sealed', inFlight: false }],
  })
  const look = watcherOf(context)
  await chain.warp(650)
  await look()
  await look()
  expect(await typesOf(context, id)).toEqual(['deadlineNear'])
  await chain.warp(300)
  await look()
  const expired = await orderOf(context, id)
  expect(expired).toMatchObject({ state: 'expired', finality: undefined })
  expect((await fileOf(context, id)).attempts[0]?.signature).toBeDefined()

  await mineBlocks(chain, 8)
  await look()
  expect((await orderOf(context, id)).finality).toBeUndefined()
  await chain.warp(20)
  await look()
  const { order, attempts, transactions } = await fileOf(context, id)
  expect(order).toMatchObject({ finality: 'finalized', lookDue: undefined })
  expect(attempts[0]).toMatchObject({ spendable: false, signature: undefined })
  expect(transactions[0]?.raw).toBeUndefined()
  expect(await typesOf(context, id)).toEqual(['deadlineNear', 'expired'])
})

test('what nears its deadline is captured then, where the policy says so', async () => {
  const policy = { capture: 'beforeDeadline', deadlineNear: 300n } as const
  const context = contextOf(chain, { policy })
  const due = await putOrder(context, await draft(chain))
  const held = await putOrder(context, await draft(chain), {
    order: { needsReview: true },
  })
  const canceled = await putOrder(context, await draft(chain), {
    order: { reason: 'simulationFailed' },
    attempt: { cancellation: 'sealed' },
  })
  await chain.warp(650)
  await watcherOf(context)()
  const wanted = { requested: 'capture', sendDue: 0n }
  expect(await orderOf(context, due)).toMatchObject(wanted)
  // Neither what waits for the merchant, nor what the buyer wanted canceled.
  for (const id of [held, canceled]) {
    expect((await orderOf(context, id)).requested).toBeUndefined()
    expect(await typesOf(context, id)).toEqual(['deadlineNear'])
  }
})

test('a voided order stays voided, and is not looked at once it cannot be spent', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain)
  const id = await putOrder(context, payment, {
    order: { state: 'voided', lookDue: payment.message.validBefore },
  })
  await chain.warp(1000)
  await mineBlocks(chain, 8)
  const look = watcherOf(context)
  await look()
  // A final block is believed once a second look agrees.
  await chain.warp(20)
  await look()
  const { order, attempts } = await fileOf(context, id)
  expect(order).toMatchObject({ state: 'voided', lookDue: undefined })
  expect(attempts[0]).toMatchObject({ spendable: false, signature: undefined })
  expect(await typesOf(context, id)).toEqual([])
})

test('a draft without a payer ends with its time, for good, once two looks find it unpaid', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain)
  const id = await putOrder(context, payment, {
    order: { state: 'drafted', payer: undefined },
    attempt: { payer: undefined, signature: undefined, spendable: false },
  })
  const look = watcherOf(context)
  await chain.warp(1000)
  await look()
  await look()
  expect((await orderOf(context, id)).state).toBe('drafted')
  await chain.warp(20)
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'expired',
    finality: 'finalized',
    lookDue: undefined,
  })
})

const unknownPayer = {
  order: { state: 'drafted', payer: undefined },
  attempt: { payer: undefined, signature: undefined, spendable: false },
} as const

test('a draft that is paid at its last moment, by nobody we know, is captured', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  const look = watcherOf(context)
  await look()
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const paid = await putOrder(context, payment, unknownPayer)
  const unpaid = await putOrder(context, await draft(chain), unknownPayer)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await chain.warp(1000)
  await look()
  expect(await orderOf(context, paid)).toMatchObject({
    state: 'captured',
    payer: payment.message.from,
    unexpected: false,
  })
  expect(await typesOf(context, paid)).toEqual(['captured', 'fulfil'])
  await chain.warp(20)
  await look()
  expect((await orderOf(context, unpaid)).state).toBe('expired')
})

test('a draft without a payer waits for its end while nobody can see who paid', async () => {
  let isBroken = false
  const seen: unknown[] = []
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (isBroken && method === 'eth_getLogs')
      throw rpcError(-32602, 'not today')
    return forward()
  })
  const tokens = [{ client, token: chain.token }]
  const context = contextOf(chain, {
    tokens,
    observe: ({ name, attributes }) => seen.push([name, attributes.what]),
  })
  const look = watcherOf(context)
  await look()
  const unknown = await putOrder(context, await draft(chain), unknownPayer)
  const known = await putOrder(context, await draft(chain))
  await chain.warp(1000)
  isBroken = true
  await look()
  expect(seen).toContainEqual(['watch.failed', 'drafts'])
  expect((await orderOf(context, unknown)).state).toBe('drafted')
  expect((await orderOf(context, known)).state).toBe('expired')
  isBroken = false
  await chain.warp(20)
  await look()
  await chain.warp(20)
  await look()
  expect((await orderOf(context, unknown)).state).toBe('expired')
})

test('what spent a nonce is found when the window ends', async () => {
  const context = contextOf(chain)
  const { merchant, relayer } = chain.clients
  const captured = await draft(chain)
  const canceled = await draft(chain)
  const other = await draft(chain)
  const ids = await Promise.all(
    [captured, canceled, other].map((payment) => putOrder(context, payment)),
  )
  await mined(chain, capturePayment(merchant, { payment: captured }))
  const cancellation = await revoke(chain, canceled)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  const { nonce } = other.message
  const payment = await draft(chain, { amount: '1', nonce })
  await mined(chain, capturePayment(merchant, { payment }))
  await chain.warp(1000)
  await watcherOf(context)()
  const states = await Promise.all(
    ids.map(async (id) => (await orderOf(context, id)).state),
  )
  expect(states).toEqual(['captured', 'canceled', 'consumed'])
})

test('evidence is what the chain shows, whatever window was signed', async () => {
  const context = contextOf(chain)
  const first = await draft(chain)
  const id = await putOrder(context, first)
  expect(await evidenceOf(context, id)).toBeUndefined()

  const { timestamp } = await getBlock(chain.clients.public)
  const { nonce } = first.message
  const renewed = await draft(chain, { nonce, now: timestamp + 30n })
  expect(renewed.message.validBefore).toBeGreaterThan(first.message.validBefore)
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment: renewed }),
  )
  expect(await evidenceOf(context, id)).toMatchObject({
    kind: 'capture',
    proof: { transactionHash: hash, orderId: id, value: 12_500_000n },
  })
  expect(await evidenceOf(context, id, 'finalized')).toBeUndefined()
})

test('evidence of an end is final only in a final block', async () => {
  const context = contextOf(chain)
  const id = await putOrder(context, await draft(chain))
  await chain.warp(1000)
  expect(await evidenceOf(context, id)).toMatchObject({
    kind: 'expired',
    final: false,
  })
  expect(await evidenceOf(context, id, 'finalized')).toBeUndefined()
  await mineBlocks(chain, 8)
  expect(await evidenceOf(context, id, 'finalized')).toMatchObject({
    kind: 'expired',
    final: true,
  })
})

test.each(['override', 'calls'])(
  'a hundred ends take no call each (%s)',
  async (via) => {
    const { client, methods } = fakeNode(chain, async ({ params }, forward) => {
      if (via === 'calls' && Array.isArray(params) && params.length === 3)
        throw rpcError(-32602, 'too many arguments, want at most 2')
      return forward()
    })
    const token = { client, token: chain.token }
    const context = contextOf(chain, { tokens: [token] })
    const base = await draft(chain)
    for (let at = 0; at < 100; at++) {
      const { message, ...rest } = base
      const payment = { ...rest, message: { ...message, nonce: randomHash() } }
      await putOrder(context, payment)
    }
    await chain.warp(1000)
    await mineBlocks(chain, 8)
    await watcherOf(context)()
    const calls = methods().filter((method) => method === 'eth_call')
    expect(calls).toHaveLength(via === 'calls' ? 101 : 1)
    const counts = await context.store.read(({ orders }) =>
      orders.count([destinationOf(context)]),
    )
    expect(counts).toEqual({ expired: 100 })
  },
)

test('an order the node does not explain keeps no other from its end', async () => {
  const seen: unknown[] = []
  const [stuck, other] = [await draft(chain), await draft(chain)]
  const { clients } = chain
  const client = createClient({
    chain: chain.chain,
    transport: custom(
      {
        request: ({ method, params }) =>
          // Nor does it have receipts to read instead.
          /Receipt/.test(method) ||
          (method === 'eth_getLogs' &&
            JSON.stringify(params).includes(stuck.message.nonce))
            ? Promise.reject(rpcError(-32602, 'not this one'))
            : clients.public.request({ method, params } as never),
      },
      { retryCount: 0 },
    ),
  })
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    observe: ({ name, attributes }) => seen.push([name, attributes.what]),
  })
  const stuckId = await putOrder(context, stuck)
  const otherId = await putOrder(context, other)
  const cancellation = await revoke(chain, stuck)
  await mined(chain, cancelPayment(clients.relayer, { cancellation }))
  await chain.warp(1_000)

  await watcherOf(context)()
  expect(seen).toEqual([
    ['watch.failed', stuckId],
    ['watch.failed', 'reconciliation'],
  ])
  expect((await orderOf(context, otherId)).state).toBe('expired')
  expect((await orderOf(context, stuckId)).state).toBe('stored')
})
