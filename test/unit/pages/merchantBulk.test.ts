import type { Address } from 'viem'
import { expect, test, vi } from 'vitest'
import { ProblemError } from '../../../src/client/errors.js'
import type { BookOrder } from '../../../src/pages/merchant/applyEvent.js'
import {
  isInBulk,
  sumTokens,
  workOnEach,
} from '../../../src/pages/merchant/bulk.js'
import { ceilingLeft } from '../../../src/pages/merchant/ceilingLeft.js'
import type { MerchantApi } from '../../../src/pages/merchant/merchantApi.js'
import { createOrderBook } from '../../../src/pages/merchant/orderBook.js'

const token: Address = `0x${'3'.repeat(40)}`
const other: Address = `0x${'4'.repeat(40)}`

const orderOf = (changes: Partial<BookOrder>): BookOrder =>
  ({
    id: 'one',
    chainId: 1,
    token,
    state: 'stored',
    value: '5',
    createdAt: '1',
    refunds: [],
    validBefore: '2000',
    ...changes,
  }) as BookOrder

test.each<[Partial<BookOrder>, boolean, boolean]>([
  [{}, true, true],
  [{ state: 'drafted' }, false, true],
  [{ state: 'captured' }, false, false],
  [{ state: 'capturing' }, false, false],
  [{ requested: 'capture' }, false, true],
  [{ pending: 'capture' }, false, false],
  [{ requested: 'cancel' }, false, true],
  [{ atMost: '5' }, false, true],
])(
  'of %j capture can take it: %s, and void: %s',
  (changes, capture, gaveUp) => {
    expect(isInBulk('capture', orderOf(changes))).toBe(capture)
    expect(isInBulk('void', orderOf(changes))).toBe(gaveUp)
  },
)

test('sums are kept apart by token and chain', () => {
  const orders = [
    orderOf({ value: '5' }),
    orderOf({ value: '7' }),
    orderOf({ value: '11', token: other }),
    orderOf({ value: '13', chainId: 2 }),
  ]
  expect(sumTokens(orders)).toEqual([
    { chainId: 1, token, value: 12n, count: 2 },
    { chainId: 1, token: other, value: 11n, count: 1 },
    { chainId: 2, token, value: 13n, count: 1 },
  ])
})

test('only a few items are worked on at the same time, and each once', async () => {
  let [running, most] = [0, 0]
  const done: number[] = []
  const items = Array.from({ length: 25 }, (_, at) => at)
  await workOnEach(items, 4, async (item) => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 0))
    running -= 1
    done.push(item)
  })
  expect(most).toBe(4)
  expect(done.sort((a, b) => a - b)).toEqual(items)
})

/** A book of twelve orders, and a server that refuses some captures. */
async function openBook() {
  vi.useFakeTimers()
  const asked: string[] = []
  const kept = new Map(
    Array.from({ length: 12 }, (_, at) => {
      const order = orderOf({ id: `order ${at}`, createdAt: String(at) })
      return [order.id, order] as const
    }),
  )
  const api = {
    list: async () => ({ orders: [...kept.values()] }),
    get: async (id: string) => kept.get(id),
    capture: async (id: string) => {
      asked.push(id)
      await Promise.resolve()
      if (id === 'order 3') throw new TypeError('the connection is lost')
      if (id === 'order 5')
        throw new ProblemError({
          status: 409,
          reason: 'insufficientFunds',
          title: 'The payer does not have enough',
        } as never)
      kept.set(id, { ...orderOf({ id }), state: 'captured' })
    },
  } as unknown as MerchantApi
  const book = createOrderBook(api)
  await book.list({})
  return { book, asked, ids: [...kept.keys()] }
}

test('one that fails keeps no other from being captured, and says why', async () => {
  const { book, asked, ids } = await openBook()
  const work = book.act('capture', ids)
  expect(book.read().bulk).toMatchObject({ unanswered: 12 })
  expect(book.read().orders.get('order 11')?.pending).toBe('capture')
  expect(asked.length).toBe(4)
  await work
  await vi.advanceTimersByTimeAsync(6_000)
  expect([...asked].sort()).toEqual([...ids].sort())
  const { bulk, orders } = book.read()
  expect(bulk).toMatchObject({ orderIds: ids, unanswered: 0 })
  const became = ids.map((id) => orders.get(id))
  expect(became.filter((order) => order?.state === 'captured').length).toBe(10)
  expect(became[5]).toMatchObject({
    state: 'stored',
    failure: 'Not captured. The payer does not have enough money.',
  })
  expect(became[3]?.failure).toMatch(/^Not captured\. The shop does not answer/)
  book.forgetBulk()
  expect(book.read().bulk).toBeUndefined()
  vi.useRealTimers()
})

test.each<[Partial<BookOrder>, unknown]>([
  [{ atMost: '50' }, { amount: '50', until: '2000' }],
  [
    { atMost: '50', state: 'voided', spendableUntil: '1500' },
    { amount: '50', until: '1500' },
  ],
  [{ atMost: '50', state: 'drafted' }, undefined],
  [{ atMost: '50', state: 'captured' }, undefined],
  [{ atMost: '50', validBefore: '999' }, undefined],
  [{}, undefined],
])('of the ceiling of %j, what is left is %j', (changes, left) => {
  expect(ceilingLeft(orderOf(changes), 1000)).toEqual(left)
})
