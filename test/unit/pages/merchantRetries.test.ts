import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followEvents } from '../../../src/pages/merchant/followEvents.js'
import {
  createMerchantApi,
  type MerchantApi,
} from '../../../src/pages/merchant/merchantApi.js'
import {
  createOrderBook,
  type OrderBook,
} from '../../../src/pages/merchant/orderBook.js'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('location', new URL('https://shop.test'))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('the merchant’s page looks for a lost shop every seven seconds at least, until it ends', async () => {
  const fetch = vi.fn().mockRejectedValue(new TypeError('Failed to fetch'))
  vi.stubGlobal('fetch', fetch)
  const ending = new AbortController()
  const following = followEvents({
    api: createMerchantApi({ root: '/merchant/', key: 'key' }),
    signal: ending.signal,
    onEvent: () => undefined,
    onConnection: () => undefined,
  })
  await vi.advanceTimersByTimeAsync(20 * 7_000)

  expect(fetch.mock.calls.length).toBeGreaterThanOrEqual(20)
  ending.abort()
  await following
})

/** A book whose stream says what a test has it say. */
function openBook(follow: MerchantApi['follow']): {
  book: OrderBook
  asked: string[]
} {
  const asked: string[] = []
  const book = createOrderBook({
    ...createMerchantApi({ root: '/merchant/', key: 'key' }),
    follow: (parameters) => {
      asked.push('stream')
      return follow(parameters)
    },
    list: async () => {
      asked.push('list')
      return { orders: [] }
    },
  })
  return { book, asked }
}

test('the merchant’s page lists orders once it is told all that comes after', async () => {
  const { book, asked } = openBook(async function* ({ onOpen }) {
    onOpen?.('5')
    await new Promise(() => undefined)
  })
  const stop = book.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(book.read().connection).toBe('live')
  expect([book.read().status, asked.slice(0, 2)]).toEqual([
    ...['ready', ['stream', 'list']],
  ])
  stop()
})

test('the merchant’s page lists orders, too, while there is no stream', async () => {
  const { book, asked } = openBook(async function* ({ onRetry }) {
    onRetry()
    await new Promise(() => undefined)
  })
  const stop = book.start()
  await vi.advanceTimersByTimeAsync(0)
  expect([book.read().status, book.read().connection]).toEqual([
    ...['ready', 'lost'],
  ])
  expect(asked[1]).toBe('list')
  stop()
})
