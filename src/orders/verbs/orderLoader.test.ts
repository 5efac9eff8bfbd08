import { expect, test } from 'vitest'
import {
  storedAttempt,
  storedOrder,
} from '../../../test/unit/support/storedOrder.js'
import { nextTurn } from '../../core/wait.js'
import { StoreError } from '../../store/errors.js'
import { memoryStore } from '../../store/memoryStore.js'
import type { PaymentStore } from '../../store/types.js'
import { orderLoader } from './orderLoader.js'

const always = () => true

/**
 * Opens a store that has orders with these ids and counts how often it is read.
 */
async function openStore(ids: readonly string[]) {
  const inner = memoryStore()
  const { version: _, position: __, ...order } = storedOrder
  const { version: ___, ...attempt } = storedAttempt
  await inner.write(async ({ orders, attempts }) => {
    await orders.insert(ids.map((id) => ({ ...order, id })))
    await attempts.insert(
      ids.map((orderId, at) => ({
        ...attempt,
        orderId,
        nonce: `0x${String(at).padStart(64, '0')}` as const,
      })),
    )
  })
  const counts = { reads: 0 }
  const faults: unknown[] = []
  const store: PaymentStore = {
    ...inner,
    read: async (work) => {
      counts.reads++
      const fault = faults.shift()
      if (fault) throw fault
      return inner.read(work)
    },
  }
  return { store, counts, faults }
}

test('orders that are asked for in one turn are loaded in one read', async () => {
  const { store, counts } = await openStore(['one', 'two'])
  const load = orderLoader(store)
  const found = await Promise.all(
    ['one', 'two', 'one', 'gone'].map((id) => load(id, always)),
  )
  expect(found.map((stored) => stored?.order.id)).toEqual([
    'one',
    'two',
    'one',
    undefined,
  ])
  expect(counts.reads).toBe(1)
})

test('one read loads a limited number of orders', async () => {
  const ids = Array.from({ length: 70 }, (_, at) => `order-${at}`)
  const { store, counts } = await openStore(ids)
  const load = orderLoader(store)
  const found = await Promise.all(ids.map((id) => load(id, always)))
  expect(found.map((stored) => stored?.order.id)).toEqual(ids)
  expect(counts.reads).toBe(3)
})

test('an order that is asked for later is loaded again', async () => {
  const { store, counts } = await openStore(['one'])
  const load = orderLoader(store)
  const before = await load('one', always)
  await store.write(({ orders }) =>
    orders.update([{ ...storedOrder, ...before?.order, tries: 7 }]),
  )
  expect((await load('one', always))?.order.tries).toBe(7)
  expect(counts.reads).toBe(2)
})

test('each caller sees the order only if it is shown to that caller', async () => {
  const { store } = await openStore(['one'])
  const load = orderLoader(store)
  const found = await Promise.all([
    load('one', always),
    load('one', () => false),
  ])
  expect(found.map(Boolean)).toEqual([true, false])
})

test('a row that cannot be read hides no other order', async () => {
  const { store, faults, counts } = await openStore(['one', 'two'])
  const broken = new StoreError('cannot read a row', false)
  faults.push(broken, broken)
  const load = orderLoader(store)
  const [first, second] = await Promise.allSettled([
    load('one', always),
    load('two', always),
  ])
  expect(first).toMatchObject({ status: 'rejected', reason: broken })
  expect(second).toMatchObject({ value: { order: { id: 'two' } } })
  expect(counts.reads).toBe(3)
})

test('while the database is away nobody asks it twice', async () => {
  const { store, faults, counts } = await openStore(['one', 'two'])
  const away = new StoreError('cannot reach its database', true)
  faults.push(away)
  const load = orderLoader(store)
  const results = await Promise.allSettled([
    load('one', always),
    load('two', always),
  ])
  expect(results).toMatchObject([{ reason: away }, { reason: away }])
  expect(counts.reads).toBe(1)
})

test('a read that hangs holds up nobody who asks in a later turn', async () => {
  const { store } = await openStore(['one', 'two'])
  const { read } = store
  let isFirst = true
  const load = orderLoader({
    ...store,
    read: (work) => {
      if (!isFirst) return read(work)
      isFirst = false
      return new Promise(() => undefined)
    },
  })
  const hung = load('one', always)
  await nextTurn()
  await nextTurn()
  expect((await load('two', always))?.order.id).toBe('two')
  expect(await Promise.race([hung, nextTurn().then(() => 'still waits')])).toBe(
    'still waits',
  )
})
