import type { Address } from 'viem'
import { expect, test } from 'vitest'
import type { MerchantOrder } from '../../../src/client/MerchantClient.js'
import { createBookLists } from '../../../src/pages/merchant/bookLists.js'
import { createBookStore } from '../../../src/pages/merchant/bookState.js'
import { isShown } from '../../../src/pages/merchant/isShown.js'
import type {
  MerchantApi,
  OrderFilter,
} from '../../../src/pages/merchant/merchantApi.js'
import { readOrders } from '../../../src/pages/merchant/readOrders.js'
import {
  notFoundWords,
  readSearch,
} from '../../../src/pages/merchant/readSearch.js'

const payer: Address = `0x${'1'.repeat(40)}`
const recipient: Address = `0x${'2'.repeat(40)}`
const hash = `0x${'ab'.repeat(32)}`
const drawnId = 'cd'.repeat(32)

const orderOf = (changes: Partial<MerchantOrder>): MerchantOrder =>
  ({
    id: 'one',
    state: 'stored',
    payer,
    recipient,
    amount: '12.5',
    atMost: undefined,
    createdAt: '1000',
    refunds: [],
    ...changes,
  }) as MerchantOrder

/** A server with these orders, the oldest first, that counts its requests. */
function serverOf(orders: readonly MerchantOrder[]) {
  const asked: object[] = []
  const list: MerchantApi['list'] = async ({
    before = String(orders.length + 1),
    limit = 50,
    states,
    payer: wanted,
    recipient: paid,
    transaction,
  }) => {
    asked.push({ before, limit })
    const found = orders
      .map((order, index) => ({ order, position: index + 1 }))
      .filter(
        ({ order, position }) =>
          position < Number(before) &&
          (!states || states.includes(order.state)) &&
          (!wanted || order.payer === wanted) &&
          (!paid || order.recipient === paid) &&
          (!transaction || order.capture?.transactionHash === transaction),
      )
      .reverse()
      .slice(0, limit)
    return {
      orders: found.map(({ order }) => order),
      cursor: found.length < limit ? undefined : String(found.at(-1)?.position),
    }
  }
  const get: MerchantApi['get'] = async (orderId) => {
    const found = orders.find(({ id }) => id === orderId)
    if (!found) {
      const { ProblemError } = await import('../../../src/client/errors.js')
      throw new ProblemError({
        status: 404,
        reason: 'orderNotFound',
        type: '',
        title: '',
      } as never)
    }
    return found
  }
  return { api: { list, get } as MerchantApi, asked }
}

test.each([
  [`  ${payer}\n`, [{ payer }, { recipient: payer }]],
  [hash, [{ transaction: hash }, { orderId: hash }]],
  [
    hash.toUpperCase(),
    [{ transaction: hash }, { orderId: `0x${'AB'.repeat(32)}` }],
  ],
  [drawnId, [{ orderId: drawnId }, { transaction: `0x${drawnId}` }]],
  ['cart-7', [{ orderId: 'cart-7' }]],
  [
    `https://scan.example/tx/${hash}?a=1`,
    [{ transaction: hash }, { orderId: hash }],
  ],
  [
    `https://scan.example/address/${payer}#code`,
    [{ payer }, { recipient: payer }],
  ],
  ['https://shop.example/merchant/orders/cart%207', [{ orderId: 'cart 7' }]],
  [
    `https://shop.example/pay/cart-7#${'f'.repeat(64)}`,
    [{ orderId: 'cart-7' }],
  ],
])('%j is searched as %j', (text, targets) => {
  expect(readSearch(text)).toEqual(targets)
})

test('an id as the pages shorten it is found among the orders of the list', () => {
  const known = [
    orderOf({ id: drawnId }),
    orderOf({ id: 'other', payer: undefined }),
  ]
  expect(readSearch('cdcdcd…cdcd', known)).toEqual([{ orderId: drawnId }])
  expect(readSearch('0x1111…1111', known)).toEqual([{ payer }])
  expect(readSearch('0x9999…9999', known)).toEqual([])
})

test.each([
  [payer, /paid from this address/],
  [hash, /this id or transaction/],
  [`${payer}1`, /40 digits after 0x.*this has 41/],
  ['cart-7', /^No order has this id\.$/],
  ['0x12…34', /Paste the whole/],
])('what is not found is said for %s', (text, words) => {
  expect(notFoundWords(text)).toMatch(words)
})

test.each<[OrderFilter, boolean]>([
  [{}, true],
  [{ states: ['captured'] }, false],
  [{ orderId: 'two' }, false],
  [{ recipient: recipient.toUpperCase().replace('X', 'x') }, true],
  [{ from: 1000, to: 1001 }, true],
  [{ from: 1001 }, false],
  [{ to: 1000 }, false],
  [{ least: '12.50', most: '12.500' }, true],
  [{ least: '12.500001' }, false],
  [{ most: '9' }, false],
  [{ most: '100' }, true],
  [{ has: 'refunds' }, false],
  [{ has: 'ceiling' }, false],
])('with the filter %j, is an order of 12.50 shown? %s', (filter, shown) => {
  expect(isShown(orderOf({}), filter)).toBe(shown)
})

const many = Array.from({ length: 20_000 }, (_, at) =>
  orderOf({
    id: `order ${at}`,
    amount: at % 1000 === 0 ? '99' : '5',
    createdAt: String(at * 3600),
  }),
)

test('a day long ago is found in few requests, and whole', async () => {
  const { api, asked } = serverOf(many)
  const found = await readOrders(api, { from: 36_000, to: 122_400 })
  expect(found.orders.map(({ id }) => id)).toEqual(
    Array.from({ length: 24 }, (_, at) => `order ${33 - at}`),
  )
  expect(found.cursor).toBeUndefined()
  expect(asked.length).toBeLessThan(15)
})

test('a time after the newest order needs no search for its place', async () => {
  const { api, asked } = serverOf(many)
  const found = await readOrders(api, { from: 19_998 * 3600, to: 10 ** 9 })
  expect(found.orders.map(({ id }) => id)).toEqual([
    'order 19999',
    'order 19998',
  ])
  expect(asked.length).toBe(2)
})

test('amounts are compared page by page, and the list says how far', async () => {
  const { api, asked } = serverOf(many)
  const first = await readOrders(api, { least: '50' })
  expect(first.orders.map(({ id }) => id)).toEqual([
    'order 19000',
    'order 18000',
  ])
  expect(asked.length).toBe(10)
  expect(first).toMatchObject({
    cursor: '18001',
    searchedTo: String(18_000 * 3600),
  })
  const next = await readOrders(api, { least: '50' }, first.cursor)
  expect(next.orders.map(({ id }) => id)).toEqual([
    'order 17000',
    'order 16000',
  ])
})

test('without dates and amounts one page is read', async () => {
  const { api, asked } = serverOf(many)
  const found = await readOrders(api, {})
  expect(found).toMatchObject({ searchedTo: undefined, cursor: '19951' })
  expect(asked).toEqual([{ before: '20001', limit: 50 }])
})

test('one search field finds an order by id, payer, recipient and transaction', async () => {
  const capture = { transactionHash: hash } as MerchantOrder['capture']
  const { api } = serverOf([
    orderOf({ id: 'a', capture }),
    orderOf({ id: drawnId, payer: `0x${'7'.repeat(40)}` }),
    orderOf({ id: hash.replace('ab', 'ff') }),
  ])
  const store = createBookStore()
  const { list } = createBookLists(api, store)
  const find = async (search: string, more: OrderFilter = {}) => {
    await list({ search, ...more })
    expect(store.read().status).toBe('ready')
    return store.read().listed
  }
  expect(await find('a')).toEqual(['a'])
  expect(await find(hash)).toEqual(['a'])
  expect(await find(hash.slice(2))).toEqual(['a'])
  expect(await find(`0x${'7'.repeat(40)}`)).toEqual([drawnId])
  expect(await find(drawnId)).toEqual([drawnId])
  expect(await find(hash.replace('ab', 'ff'))).toEqual([
    hash.replace('ab', 'ff'),
  ])
  expect((await find(recipient)).length).toBe(3)
  // Asked again, as after a lost connection, it finds the same.
  await list(store.read().filter)
  expect(store.read().listed.length).toBe(3)
  expect(await find('a', { states: ['captured'] })).toEqual([])
  expect(await find('none')).toEqual([])
  expect(await find('0x9999…9999')).toEqual([])
  await list({})
  expect(store.read().listed.length).toBe(3)
})
