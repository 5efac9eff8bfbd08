import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { getTransactionReceipt } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { findEvidence } from '../../../../src/orders/evidence/findEvidence.js'
import { writeChanges } from '../../../../src/orders/model/changes.js'
import { settleOrder } from '../../../../src/orders/model/settleOrder.js'
import { watchKey } from '../../../../src/orders/watcher/watchKeys.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { OrderQuery, PaymentStore } from '../../../../src/store/types.js'
import { draft, fakeNode, mined, rpcError } from '../../support/desk.js'
import {
  destinationOf,
  eventsOf,
  fileOf,
  mineBlocks,
  moveMined,
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

test('a capture becomes surer, is fulfilled once at safe, and its secrets go at last', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain)
  const id = await putOrder(context, payment, {
    transactions: [{ raw: 'sealed', inFlight: false }],
  })
  const look = watcherOf(context)
  await look()
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  const receipt = await getTransactionReceipt(chain.clients.public, { hash })
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    finality: 'included',
    settledHash: hash,
    settledBlock: receipt.blockNumber,
    fulfilled: undefined,
    lookDue: undefined,
  })
  await mineBlocks(chain, 8)
  await look()
  await look()
  const fulfilled = `${id}/${hash}`
  expect(await orderOf(context, id)).toMatchObject({
    finality: 'safe',
    fulfilled,
  })
  const { attempts } = await fileOf(context, id)
  expect(attempts[0]?.signature).toContain(payment.signature)

  await mineBlocks(chain, 8)
  await look()
  await look()
  expect((await orderOf(context, id)).finality).toBe('finalized')
  const file = await fileOf(context, id)
  expect(file.attempts[0]?.signature).toBeUndefined()
  expect(file.transactions[0]?.raw).toBeUndefined()
  expect(await typesOf(context, id)).toEqual([
    'captured',
    'finalityRaised',
    'fulfil',
    'finalityRaised',
  ])
  const events = await eventsOf(context)
  expect(events.find(({ type }) => type === 'fulfil')?.data).toEqual({
    fulfilmentId: fulfilled,
    finality: 'safe',
  })
})

test('where included is enough, a capture is fulfilled when it is seen', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil'])
})

/** Lets another process watch. */
async function releaseWatch(context: OrdersContext) {
  const { store, owner, policy } = context
  const { chainId } = destinationOf(context)
  const key = watchKey(context, { chainId })
  const lease = await store.takeLease({
    key,
    owner,
    milliseconds: policy.lease,
  })
  if (lease) await store.releaseLease(lease)
}

/**
 * A context over a node without safe blocks, and how many orders a look reads
 * out of all that were ever settled.
 */
function blindContext(fulfilAt: 'included' | 'safe', base = memoryStore()) {
  const { client } = fakeNode(chain, async ({ params }, forward) => {
    const [block] = Array.isArray(params) ? params : []
    if (block === 'safe' || block === 'finalized')
      throw rpcError(-39001, `${block} block not found`)
    return forward()
  })
  let rows = 0
  const store: PaymentStore = {
    ...base,
    read: (work) =>
      base.read((tables) => {
        const find = async (query: OrderQuery) => {
          const found = await tables.orders.find(query)
          if ('settled' in query && query.fromBlock === undefined)
            rows += found.length
          return found
        }
        return work({ ...tables, orders: { ...tables.orders, find } })
      }),
  }
  const tokens = [{ client, token: chain.token }]
  const context = contextOf(chain, { tokens, store, policy: { fulfilAt } })
  const countRows = async (look: () => Promise<unknown>) => {
    rows = 0
    await look()
    return rows
  }
  return { context, countRows }
}

/** Puts an order on record as a submitter does that captured it. */
async function putCaptured(context: OrdersContext): Promise<string> {
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const { merchant, public: client } = chain.clients
  await mined(chain, capturePayment(merchant, { payment }))
  const { order, attempts, proofs } = await fileOf(context, id)
  const [attempt] = attempts
  if (!attempt) throw new Error('no attempt')
  const evidence = await findEvidence(client, {
    order,
    attempt,
    kinds: context.kinds,
  })
  if (!evidence) throw new Error('no evidence')
  const changes = settleOrder({ order, attempt, proofs }, evidence, 0n)
  await context.store.write((tables) => writeChanges(tables, changes, 0n))
  return id
}

test('where no block is ever safe, a look reads only what was captured since', async () => {
  const store = memoryStore()
  const { context, countRows } = blindContext('included', store)
  const ids: string[] = []
  for (let at = 0; at < 5; at++) ids.push(await putCaptured(context))
  const look = watcherOf(context)
  await look()
  for (const id of ids)
    expect(await typesOf(context, id)).toEqual(['captured', 'fulfil'])
  expect(await countRows(look)).toBe(0)

  const late = await putCaptured(context)
  await look()
  expect(await typesOf(context, late)).toEqual(['captured', 'fulfil'])
  expect(await countRows(look)).toBe(0)
})

test('a watcher that starts anew goes on where the last one was', async () => {
  const store = memoryStore()
  const first = blindContext('included', store)
  await putCaptured(first.context)
  await watcherOf(first.context)()
  await releaseWatch(first.context)
  const next = blindContext('included', store)
  const id = await putCaptured(next.context)
  expect(await next.countRows(watcherOf(next.context))).toBe(0)
  expect(await typesOf(next.context, id)).toEqual(['captured', 'fulfil'])
})

test('what was captured before included was enough is fulfilled as well', async () => {
  const store = memoryStore()
  const before = blindContext('safe', store)
  const id = await putCaptured(before.context)
  await watcherOf(before.context)()
  expect(await typesOf(before.context, id)).toEqual(['captured'])
  await releaseWatch(before.context)
  const { context } = blindContext('included', store)
  await watcherOf(context)()
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil'])
})

test('what was paid after it was given up is never fulfilled', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain)
  const id = await putOrder(context, payment, { order: { state: 'voided' } })
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  await mineBlocks(chain, 16)
  await look()
  await look()
  expect(await typesOf(context, id)).toEqual([
    'captured',
    'refundDue',
    'finalityRaised',
  ])
  expect(await orderOf(context, id)).toMatchObject({
    unexpected: true,
    finality: 'finalized',
    fulfilled: undefined,
  })
})

test.each([1, 2, 3, 4, 5, 6])(
  'a capture lost %i blocks deep is taken back, and nothing is fulfilled twice when it comes again',
  async (depth) => {
    const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
    const payment = await draft(chain)
    const nonce = Number(payment.message.validAfter % 1000n)
    const id = await putOrder(context, payment, {
      transactions: [{ nonce, raw: 'sealed', inFlight: false }],
    })
    const look = watcherOf(context)
    await look()
    await mined(chain, capturePayment(chain.clients.merchant, { payment }))
    await mineBlocks(chain, depth - 1)
    await look()
    const before = await orderOf(context, id)
    expect(before).toMatchObject({ state: 'captured' })

    await chain.reorg({ depth, transactions: 'dropped' })
    await mineBlocks(chain, 1)
    await look()
    expect(await orderOf(context, id)).toMatchObject({
      state: 'capturing',
      finality: undefined,
      settledHash: undefined,
      fulfilled: before.fulfilled,
    })
    const { proofs, transactions } = await fileOf(context, id)
    expect(proofs.map(({ removed }) => removed)).toEqual([true])
    expect(transactions.map(({ inFlight }) => inFlight)).toEqual([true])

    await mined(chain, capturePayment(chain.clients.merchant, { payment }))
    await look()
    expect((await orderOf(context, id)).state).toBe('captured')
    expect(await typesOf(context, id)).toEqual([
      'captured',
      'fulfil',
      'reorged',
      'captured',
    ])
  },
)

test('a capture that moved to another block is kept where it is now', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  const hash = await mined(
    chain,
    capturePayment(chain.clients.merchant, { payment }),
  )
  await look()
  const receipt = await moveMined(chain, hash, 2)
  await look()
  const { order, proofs } = await fileOf(context, id)
  expect(order).toMatchObject({
    state: 'captured',
    settledBlock: receipt.blockNumber,
  })
  expect(proofs).toMatchObject([
    { blockHash: receipt.blockHash, removed: false },
  ])
  expect(await typesOf(context, id)).toEqual(['captured', 'fulfil', 'captured'])
})

test('a capture lost after its window is over raises the loss', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await look()
  await chain.warp(3600)
  await chain.reorg({ depth: 2, transactions: 'dropped' })
  await chain.warp(3600)
  await look()
  expect(await typesOf(context, id)).toEqual([
    'captured',
    'fulfil',
    'reorged',
    'expired',
    'lossAfterFulfilment',
  ])
  await mineBlocks(chain, 16)
  await look()
  await chain.warp(20)
  await look()
  expect(await orderOf(context, id)).toMatchObject({
    state: 'expired',
    finality: 'finalized',
    lookDue: undefined,
  })
})
