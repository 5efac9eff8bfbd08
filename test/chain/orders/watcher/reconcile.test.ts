import { cancelPayment, capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { erc20Abi } from 'viem'
import { getBlock, getTransactionReceipt, writeContract } from 'viem/actions'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { OrdersSetupError } from '../../../../src/orders/model/errors.js'
import type { OrdersContext } from '../../../../src/orders/model/types.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { openStore } from '../../../../src/orders/verbs/openStore.js'
import { resumeOrders } from '../../../../src/orders/verbs/resumeOrders.js'
import {
  loadCursor,
  moveCursor,
} from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { watchDestination } from '../../../../src/orders/watcher/watchDestination.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../../src/store/types.js'
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
  eventsOf,
  fileOf,
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putAttempt, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 8 })
})
afterAll(() => chain.stop())

const nothing = {
  captured: 0,
  canceled: 0,
  consumed: 0,
  unexpected: 0,
  overpaid: 0,
  unmatched: 0,
}

const transfer = (value: bigint) =>
  mined(
    chain,
    writeContract(chain.clients.payer, {
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [chain.clients.merchant.account.address, value],
    }),
  )

test('what happened while nobody looked is found, and found again changes nothing', async () => {
  const context = contextOf(chain)
  const { merchant, relayer } = chain.clients
  await reconcile(context)
  const byOthers = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const canceled = await draft(chain)
  const spent = await draft(chain)
  const given = await draft(chain)
  const open = await draft(chain)
  const put = (payment: typeof open, order = {}) =>
    putOrder(context, payment, { order })
  const ids = [
    await put(byOthers),
    await put(canceled),
    await put(spent),
    await put(given, { state: 'voided' }),
    await put(open),
  ]
  const hash = await mined(
    chain,
    capturePayment(relayer, { payment: byOthers }),
  )
  const cancellation = await revoke(chain, canceled)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  const { nonce } = spent.message
  const another = await draft(chain, { amount: '1', nonce })
  await mined(chain, capturePayment(merchant, { payment: another }))
  await mined(chain, capturePayment(merchant, { payment: given }))
  const stray = await transfer(7n)
  await transfer(0n)

  const report = await reconcile(context)
  expect(report.destinations).toMatchObject([
    {
      captured: 2,
      canceled: 1,
      consumed: 1,
      unexpected: 1,
      overpaid: 0,
      unmatched: 2,
    },
  ])
  const states = await Promise.all(
    ids.map(async (id) => (await orderOf(context, id)).state),
  )
  expect(states).toEqual([
    'captured',
    'canceled',
    'consumed',
    'captured',
    'stored',
  ])
  const [first] = (await fileOf(context, ids[0] ?? '')).proofs
  expect(first).toMatchObject({
    transactionHash: hash,
    submitter: relayer.account.address.toLowerCase(),
  })
  expect(await typesOf(context, ids[3])).toEqual(['captured', 'refundDue'])
  const { blockNumber } = await getTransactionReceipt(chain.clients.public, {
    hash: stray,
  })
  const unmatched = (await eventsOf(context)).filter(
    ({ type }) => type === 'unmatched',
  )
  expect(unmatched.map(({ data }) => data.value)).toEqual(['1000000', '7'])
  expect(unmatched[1]?.data).toMatchObject({
    transactionHash: stray,
    blockNumber: String(blockNumber),
    from: chain.clients.payer.account.address.toLowerCase(),
  })

  const before = await recordOf(context)
  const again = await reconcile(context)
  expect(again.destinations).toMatchObject([nothing])
  await watcherOf(context)()
  expect(await recordOf(context)).toEqual(before)

  const audit = await auditOrders(context)
  expect(audit).toMatchObject({
    ok: true,
    destinations: [
      {
        chain: { count: 4, value: 26_000_007n },
        captured: { count: 2, value: 25_000_000n },
        unmatched: { count: 2, value: 1_000_007n },
        differences: [],
      },
    ],
  })
})

test('an order paid twice is fulfilled once', async () => {
  const context = contextOf(chain, { policy: { fulfilAt: 'included' } })
  await reconcile(context)
  const first = await draft(chain)
  const second = await draft(chain)
  const id = await putOrder(context, first, { order: { attempt: 2 } })
  await putAttempt(context, id, second)
  const { merchant } = chain.clients
  await mined(chain, capturePayment(merchant, { payment: second }))
  await mined(chain, capturePayment(merchant, { payment: first }))
  const report = await reconcile(context)
  expect(report.destinations).toMatchObject([{ captured: 1, overpaid: 1 }])
  expect(await typesOf(context, id)).toEqual(['captured', 'overpaid', 'fulfil'])
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    overpaid: true,
  })
  expect((await auditOrders(context)).ok).toBe(true)
})

test('a reconciliation starts with the oldest open order, or at the head', async () => {
  const context = contextOf(chain)
  const [empty] = (await reconcile(context)).destinations
  expect(empty).toMatchObject({ fromBlock: empty?.toBlock })

  const other = contextOf(chain)
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(other, payment)
  await chain.warp(30)
  const { number } = await getBlock(chain.clients.public)
  await mineBlocks(chain, 100)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  const [report] = (await reconcile(other)).destinations
  expect(report?.captured).toBe(1)
  expect(report?.fromBlock).toBeLessThan(number)
  expect(report?.fromBlock).toBeGreaterThan(number - 20n)
  expect((await orderOf(other, id)).state).toBe('captured')
})

test('a draft that a payment nobody showed us pays is captured', async () => {
  const context = contextOf(chain)
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(context, payment, {
    order: { state: 'drafted', payer: undefined },
    attempt: { payer: undefined, spendable: false },
  })
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  await reconcile(context)
  expect(await orderOf(context, id)).toMatchObject({
    state: 'captured',
    payer: payment.message.from,
  })
})

test('a worker whose clock is set back reconciles as often as before', async () => {
  const context = contextOf(chain)
  const { look } = watchDestination(context, destinationOf(context))
  // From the first look on, however long the rest takes.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  await look()
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(9_999)
  await look()
  expect(await orderOf(context, id)).toMatchObject({ state: 'stored' })
  vi.advanceTimersByTime(10_000)
  await look()
  expect(await orderOf(context, id)).toMatchObject({ state: 'captured' })
})

test('600 open orders are asked about in two slots', async () => {
  const { client, asked } = fakeNode(chain)
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  const { message, ...rest } = await draft(chain)
  for (let at = 0; at < 600; at++)
    await putOrder(context, {
      ...rest,
      message: { ...message, nonce: randomHash() },
    })
  await reconcile(context)
  const sizes = asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => Object(params)[0].topics[2]?.length)
  expect(new Set(sizes)).toEqual(new Set([66, 500, 100]))
  expect(sizes).toHaveLength(3)
})

test('a provider that takes ten blocks at a time is read in such pieces', async () => {
  let refused = 0
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const { fromBlock, toBlock } = Object(Object(params)[0])
    if (method === 'eth_getLogs' && BigInt(toBlock) - BigInt(fromBlock) > 9n) {
      refused++
      throw rpcError(-32602, 'query exceeds max block range 10')
    }
    return forward()
  })
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await mineBlocks(chain, 60)
  await reconcile(context)
  expect(refused).toBeGreaterThan(0)
  expect((await orderOf(context, id)).state).toBe('captured')
})

test.each(['eth_getTransactionReceipt', 'eth_getLogs'])(
  'nothing moves while a node has no answer to %s',
  async (broken) => {
    let isBroken = false
    const { client } = fakeNode(chain, async ({ method }, forward) => {
      if (!isBroken || method !== broken) return forward()
      if (broken === 'eth_getTransactionReceipt') return null
      throw rpcError(-32000, 'header not found')
    })
    const context = contextOf(chain, {
      tokens: [{ client, token: chain.token }],
    })
    await reconcile(context)
    const cursor = () =>
      context.store.read((tables) => loadCursor(tables, destinationOf(context)))
    const payment = await draft(chain)
    const id = await putOrder(context, payment)
    await mined(chain, capturePayment(chain.clients.merchant, { payment }))
    const before = await cursor()
    isBroken = true
    await expect(reconcile(context)).rejects.toMatchObject({ retryable: true })
    expect(await cursor()).toEqual(before)
    expect((await orderOf(context, id)).state).toBe('stored')
    isBroken = false
    await reconcile(context)
    expect((await orderOf(context, id)).state).toBe('captured')
  },
)

test('two processes that reconcile at the same time write everything once', async () => {
  const context = contextOf(chain)
  const twin = contextOf(chain, { store: context.store })
  await mineBlocks(chain, 1)
  await reconcile(context)
  const { merchant } = chain.clients
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(merchant, { payment }))
  await transfer(3n)
  const reports = await Promise.all([reconcile(context), reconcile(twin)])
  const found = reports.flatMap(({ destinations }) => destinations)
  expect(found.reduce((sum, { captured }) => sum + captured, 0)).toBe(1)
  expect(found.reduce((sum, { unmatched }) => sum + unmatched, 0)).toBe(1)
  expect(await typesOf(context, id)).toEqual(['captured'])
  expect(await typesOf(context)).toEqual(['unmatched'])
})

const isSuspended = async ({ store }: OrdersContext) =>
  Object(await store.read((tables) => tables.getValue('store'))).suspended

test('a database put in the place of another is reconciled while nothing is captured', async () => {
  const context = contextOf(chain)
  await openStore(context)
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await context.store.write((tables) =>
    tables.setValue('store', { identity: 'another', suspended: false }),
  )
  await openStore(context)
  expect(await isSuspended(context)).toBe(true)
  await watcherOf(context)()
  expect((await orderOf(context, id)).state).toBe('captured')
  expect(await isSuspended(context)).toBe(true)
  await resumeOrders(context)
  expect(await isSuspended(context)).toBe(false)
  await openStore(context)
  expect(await isSuspended(context)).toBe(false)
})

test('the audit shows what only one side has, and not the same alike', async () => {
  const context = contextOf(chain)
  await reconcile(context)
  const payment = await draft(chain)
  const id = await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await reconcile(context)
  const { proofs } = await fileOf(context, id)
  const [proof] = proofs
  if (!proof) throw new Error('no proof')
  await context.store.write((tables) =>
    tables.proofs.update([{ ...proof, value: 1n }]),
  )
  const stray = await transfer(5n)
  const { number } = await getBlock(chain.clients.public)
  const audit = await auditOrders(context, { toBlock: number })
  expect(audit.ok).toBe(false)
  expect(audit.destinations[0]?.differences).toMatchObject([
    { orderId: id, onChain: 12_500_000n, onRecord: 1n },
    { transactionHash: stray, onChain: 5n, onRecord: undefined },
  ])
})

test('what is reconciled beside the watcher of another process can be audited at once', async () => {
  const context = contextOf(chain)
  const twin = contextOf(chain, { store: context.store })
  await mineBlocks(chain, 1)
  await watcherOf(context)()
  const payment = await draft(chain)
  await putOrder(context, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  await transfer(3n)
  const both = { captured: 1, unmatched: 1 }
  expect((await reconcile(twin)).destinations).toMatchObject([both])
  expect(await auditOrders(twin)).toMatchObject({
    ok: true,
    destinations: [
      { captured: { value: 12_500_000n }, unmatched: { value: 3n } },
    ],
  })
  const before = await recordOf(twin)
  expect((await reconcile(twin)).destinations).toMatchObject([nothing])
  expect(await recordOf(twin)).toEqual(before)
})

test('a reconciliation takes nothing from whoever watches, in its own process too', async () => {
  const context = contextOf(chain)
  const twin = contextOf(chain, { store: context.store })
  const look = watcherOf(context)
  await look()
  await reconcile(context)
  // Else the other process would watch from now on.
  expect(await watcherOf(twin)()).toEqual({ nextLook: 7500 })
  const before = await recordOf(context)
  await look()
  expect(await recordOf(context)).toEqual(before)
})

test('a reconciliation that a fork overtakes takes back what it wrote', async () => {
  let overtake: (() => Promise<unknown>) | undefined
  const store = memoryStore()
  const write: PaymentStore['write'] = async (work, options) => {
    const now = overtake
    overtake = undefined
    await now?.()
    return store.write(work, options)
  }
  const slow = contextOf(chain, { store: { ...store, write } })
  const look = watcherOf(contextOf(chain, { store }))
  await mineBlocks(chain, 1)
  await look()
  const payment = await draft(chain)
  const id = await putOrder(slow, payment)
  await mined(chain, capturePayment(chain.clients.merchant, { payment }))
  overtake = async () => {
    await chain.reorg({ depth: 1, transactions: 'dropped' })
    await mineBlocks(chain, 1)
    await look()
  }
  await reconcile(slow)
  expect(await typesOf(slow, id)).toEqual(['captured', 'reorged'])
  expect((await orderOf(slow, id)).state).toBe('stored')
})

test('a slow reconciliation does not set back what another has read since', async () => {
  let goOn = () => {}
  const isOpen = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isSlow = false
  let tellStopped = () => {}
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve
  })
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (isSlow && method === 'eth_getLogs') {
      tellStopped()
      await isOpen
    }
    return forward()
  })
  const tokens = [{ client, token: chain.token }]
  const slow = contextOf(chain, { tokens })
  const fast = contextOf(chain, { store: slow.store })
  await mineBlocks(chain, 1)
  await reconcile(slow)
  isSlow = true
  const late = reconcile(slow)
  await stopped
  await transfer(4n)
  await reconcile(fast)
  const cursor = () =>
    slow.store.read((tables) => loadCursor(tables, destinationOf(slow)))
  const moved = await cursor()
  goOn()
  await late
  expect(await cursor()).toEqual(moved)
  expect(await auditOrders(slow)).toMatchObject({
    ok: true,
    destinations: [{ unmatched: { value: 4n } }],
  })
})

test('how far back was read is kept, whoever reads on', async () => {
  const context = contextOf(chain)
  await mineBlocks(chain, 1)
  await reconcile(context)
  const destination = destinationOf(context)
  const cursor = () => context.store.read((it) => loadCursor(it, destination))
  const before = await cursor()
  if (!before) throw new Error('no cursor')
  const { number } = before.last
  const from = before.from - 5n
  const other = { ...before, from, last: { number, hash: randomHash() } }
  const move = (after: typeof before) =>
    moveCursor(context, { destination, lease: undefined }, { before, after })
  await move(other)
  await move({ ...before, last: { number: number + 1n, hash: randomHash() } })
  expect(await cursor()).toMatchObject({ from, last: { number: number + 1n } })
  await move({ ...before, from: from - 5n })
  expect(await cursor()).toMatchObject({
    from: from - 5n,
    last: { number: number + 1n },
  })
})

test('a destination of someone else is not reconciled', async () => {
  const context = contextOf(chain)
  const recipient = chain.clients.payer.account.address
  const destination = { ...destinationOf(context), recipient }
  await expect(reconcile(context, { destination })).rejects.toThrow(
    OrdersSetupError,
  )
})
