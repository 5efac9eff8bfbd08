import { memoryStore, type PaymentStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { requestCaptures } from '../../../../src/orders/sending/requestCaptures.js'
import { contextOver } from '../../support/contextOver.js'
import { storedAttempt, storedOrder } from '../../support/storedOrder.js'

/**
 * Opens a store with the orders `one` and `two`, which fails when it reads
 * `unreadable`, and counts the transactions that write.
 */
async function openOrders() {
  const inner = memoryStore()
  const { version: _, position: __, ...order } = storedOrder
  const { version: ___, ...attempt } = storedAttempt
  await inner.write(async ({ orders, attempts }) => {
    await orders.insert(['one', 'two'].map((id) => ({ ...order, id })))
    await attempts.insert([attempt])
  })
  const counts = { writes: 0 }
  const store: PaymentStore = {
    ...inner,
    write: (work, options) => {
      counts.writes++
      return inner.write(({ orders, ...tables }) => {
        const find: typeof orders.find = (query) => {
          if ('ids' in query && query.ids.includes('unreadable'))
            throw new TypeError('a row')
          return orders.find(query)
        }
        return work({ ...tables, orders: { ...orders, find } })
      }, options)
    },
  }
  return { counts, request: requestCaptures(contextOver(store)) }
}

test('the captures that are requested at once are written together', async () => {
  const { counts, request } = await openOrders()
  const found = await Promise.all(
    ['one', 'two', 'one'].map((id) => request(id)),
  )
  expect(found.map(({ id, requested }) => `${id} ${requested}`)).toEqual([
    'one capture',
    'two capture',
    'one capture',
  ])
  expect(counts.writes).toBe(1)
})

test('an order whose row cannot be read stops no other capture', async () => {
  const { request } = await openOrders()
  const results = await Promise.allSettled(
    ['one', 'unreadable', 'two', 'missing'].map((id) => request(id)),
  )
  expect(results).toMatchObject([
    { value: { id: 'one', requested: 'capture' } },
    { reason: new TypeError('a row') },
    { value: { id: 'two', requested: 'capture' } },
    { reason: { name: 'OrderNotFoundError' } },
  ])
})
