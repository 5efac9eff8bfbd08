import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { waitForOrders } from '../../../../src/orders/account/waitForOrders.js'
import type { OrderRecord } from '../../../../src/store/types.js'
import { contextOver } from '../../support/contextOver.js'
import { storedAttempt, storedOrder } from '../../support/storedOrder.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const { chainId, submitter: account } = storedOrder
const submitter = { chainId, account }

/** A store with one order that is to be captured. */
async function stock(): Promise<{ store: PaymentStore; order: OrderRecord }> {
  const store = memoryStore()
  await store.write(async ({ orders, attempts }) => {
    const { version: _, position: __, ...row } = storedOrder
    await orders.insert([{ ...row, requested: 'capture' }])
    await attempts.insert([storedAttempt])
  })
  const order = await readOrder(store)
  return { store, order }
}

async function readOrder(store: PaymentStore): Promise<OrderRecord> {
  const [order] = await store.read(({ orders }) =>
    orders.find({ ids: ['one'] }),
  )
  if (!order) throw new Error('There is no order.')
  return order
}

/** What another process does. */
async function decide(store: PaymentStore): Promise<void> {
  const order = await readOrder(store)
  await store.write(({ orders }) =>
    orders.update([{ ...order, state: 'captured', requested: undefined }]),
  )
}

test('who waits for an order sees it decided although its submitter never looks', async () => {
  const { store, order } = await stock()
  const waits = waitForOrders(contextOver(store))
  const found = waits.wait(order, 60_000)
  await decide(store)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await found).toMatchObject({ order: { state: 'captured' } })
  expect(vi.getTimerCount()).toBe(0)
})

test('what was decided before the wait began is seen all the same', async () => {
  const { store, order } = await stock()
  await decide(store)
  const waits = waitForOrders(contextOver(store))
  const found = waits.wait(order, 60_000)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await found).toMatchObject({ order: { state: 'captured' } })
})

test('a look that fails or never answers is made again', async () => {
  const { store, order } = await stock()
  let looks = 0
  const unsteady: PaymentStore = {
    ...store,
    read: async (work) => {
      looks++
      if (looks === 1) throw new Error('no store')
      if (looks === 2) return new Promise<never>(() => undefined)
      return store.read(work)
    },
  }
  const waits = waitForOrders(contextOver(unsteady))
  const found = waits.wait(order, 60_000)
  await decide(store)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await found).toMatchObject({ order: { state: 'captured' } })
  expect(looks).toBe(3)
})

test('the wait is over with its time, and leaves no look behind', async () => {
  const { store, order } = await stock()
  const waits = waitForOrders(contextOver(store))
  const found = waits.wait(order, 5_000)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await found).toBeUndefined()
  expect(waits.count(submitter)).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
