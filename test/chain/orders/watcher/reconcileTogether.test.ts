import { capturePayment } from 'countersign'
import { expect, test } from 'vitest'
import { OrdersSetupError } from '../../../../src/orders/model/errors.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import {
  loadCursor,
  moveCursor,
} from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../../src/store/types.js'
import { draft, fakeNode, mined, randomHash } from '../../support/desk.js'
import { chain, nothing, transfer } from '../../support/reconcileChain.js'
import {
  destinationOf,
  mineBlocks,
  orderOf,
  recordOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

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
  expect(await watcherOf(twin)()).toMatchObject({ nextLook: 7500 })
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
