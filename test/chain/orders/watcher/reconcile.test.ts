import { cancelPayment, capturePayment } from 'countersign'
import { getBlock, getTransactionReceipt } from 'viem/actions'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { OrdersContext } from '../../../../src/orders/context/types.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { openStore } from '../../../../src/orders/verbs/openStore.js'
import { resumeOrders } from '../../../../src/orders/verbs/resumeOrders.js'
import { loadCursor } from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import {
  draft,
  fakeNode,
  mined,
  randomHash,
  revoke,
  rpcError,
} from '../../support/desk.js'
import { chain, nothing, transfer } from '../../support/reconcileChain.js'
import {
  destinationOf,
  eventsOf,
  fileOf,
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
  watchOf,
} from '../../support/watching.js'
import { contextOf, putAttempt, putOrder } from '../../support/watchRows.js'

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
  const { look } = watchOf(context)
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
  // The request without a third topic is for refunds that others paid.
  expect(new Set(sizes)).toEqual(new Set([66, 500, 100, undefined]))
  expect(sizes).toHaveLength(4)
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
