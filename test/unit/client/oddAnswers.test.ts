import {
  createBuyerClient,
  createMerchantClient,
  createSubscriptionsClient,
} from 'countersign/client'
import { expect, test, vi } from 'vitest'
import { clientsOf } from '../support/clientServer.js'
import { order, token } from '../support/httpStub.js'

const url = 'https://shop.test'

/** What a client throws for an answer that `countersign/http` never gives. */
const foreign = { name: 'ServerError', status: 200, retryable: false }

/** Clients of a server whose every answer is this text. */
function clientsThatGet(text: (at: number) => string, type = 'text/plain') {
  let asked = 0
  const connection = {
    url,
    fetch: async () =>
      new Response(text(asked++), { headers: { 'content-type': type } }),
  }
  return {
    ...clientsOf(connection),
    subscriptions: createSubscriptionsClient(connection),
    asked: () => asked,
  }
}

const streamOf = (text: string) =>
  clientsThatGet(() => text, 'text/event-stream')

async function readAll(values: AsyncGenerator<unknown>): Promise<number> {
  let count = 0
  for await (const _ of values) count += 1
  return count
}

test.each([
  ['never changes', () => '7', 1],
  ['comes again later', (at: number) => `${at % 2}`, 2],
  ['is no text', () => null, 0],
])(
  'a list whose cursor %s ends with a typed error',
  async (_, cursorOf, pages) => {
    const page = (at: number) =>
      JSON.stringify({ orders: [], cursor: cursorOf(at) })
    const open = () => {
      const { merchant, subscriptions } = clientsThatGet(page)
      return [
        merchant.list(),
        subscriptions.list(),
        subscriptions.listCharges({ subscriptionId: 'one' }),
      ]
    }
    for (const which of [0, 1, 2]) {
      const list = open()[which]
      if (!list) throw new Error('no list')
      for (let at = 0; at < pages; at++) await list.next()
      await expect(list.next()).rejects.toMatchObject(foreign)
    }
    const again = clientsThatGet(() => '{"orders":[],"cursor":"7"}')
    const first = again.merchant.list({ before: '7' }).next()
    await expect(first).rejects.toMatchObject(foreign)
  },
)

test('a list whose cursors are all new goes on to its end', async () => {
  const { merchant } = clientsThatGet((at) =>
    JSON.stringify({ orders: [], cursor: at < 9 ? `${at}` : undefined }),
  )
  expect(await readAll(merchant.list())).toBe(10)
})

test.each([
  ['no JSON', 'data: {"type":\n\n'],
  ['JSON of no object', 'data: null\n\n'],
  ['an id that no header can contain', 'id: 7€\ndata: {"order":{}}\n\n'],
])('an event with %s ends the stream with a typed error', async (_, text) => {
  const { buyer, merchant, failures, asked } = streamOf(text)
  await expect(buyer.follow().next()).rejects.toMatchObject(foreign)
  await expect(merchant.follow().next()).rejects.toMatchObject(foreign)
  expect(asked()).toBe(2)
  expect(failures).toEqual([])
})

test('a buyer’s event without an order ends the stream with a typed error', async () => {
  const { buyer } = streamOf('data: {"type":"accepted"}\n\n')
  await expect(buyer.follow().next()).rejects.toMatchObject(foreign)
})

test('what no header can contain is refused by name, before a request', async () => {
  const { buyer, merchant, subscriptions, asked } = streamOf('')
  const after = { after: '7€' }
  const refusals: [string, () => Promise<unknown>][] = [
    ['after', () => buyer.follow(after).next()],
    ['after', () => merchant.follow(after).next()],
    [
      'idempotencyKey',
      async () => merchant.draft({ amount: '1', idempotencyKey: 'cart\n7' }),
    ],
    [
      'idempotencyKey',
      async () =>
        subscriptions.draft({
          account: order.token,
          period: 3600n,
          idempotencyKey: '€',
        }),
    ],
    ['key', async () => createMerchantClient({ url, key: 'schlüssel€' })],
    [
      'buyerToken',
      async () => createBuyerClient({ url, orderId: 'a', buyerToken: 'a\nb' }),
    ],
    ['orderId', async () => merchant.get({ orderId: 'a\ud800' })],
  ]
  for (const [field, call] of refusals)
    await expect(call()).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field },
    })
  expect(asked()).toBe(0)
})

test.each(['null', '7', '"text"'])(
  'the answer %s, which is no object, is a typed error',
  async (text) => {
    const { buyer, merchant, subscriptions } = clientsThatGet(() => text)
    const given = { payer: order.token }
    for (const call of [
      () => buyer.get(),
      () => buyer.requestPayment(given),
      () => merchant.list().next(),
      () => merchant.audit({ fromBlock: 1n }),
      () => subscriptions.requestPermission({ subscriptionId: 'one' }),
    ])
      await expect(call()).rejects.toMatchObject(foreign)
  },
)

test('an object that lacks what the client reads is a typed error', async () => {
  const { buyer, merchant, subscriptions } = clientsThatGet(() => '{}')
  const invalid = { name: 'InvalidFieldError' }
  await expect(
    buyer.requestPayment({ payer: order.token }),
  ).rejects.toMatchObject(invalid)
  await expect(
    subscriptions.requestPermission({ subscriptionId: 'one' }),
  ).rejects.toMatchObject(invalid)
  for (const range of [{ fromBlock: 1n }, { fromBlock: 1n, toBlock: 2n }])
    await expect(merchant.audit(range)).rejects.toMatchObject(foreign)
  const words = clientsThatGet(() => '{"chains":[{"block":"new"}]}')
  await expect(words.merchant.audit({ fromBlock: 1n })).rejects.toMatchObject(
    foreign,
  )
  expect(JSON.stringify(foreign)).not.toContain(token)
})

test.each(['99999999999', '1e400', '-5'])(
  'a stream is not opened again and again after Retry-After: %s',
  async (seconds) => {
    vi.useFakeTimers()
    try {
      let asked = 0
      const { merchant } = clientsOf({
        url,
        fetch: async () => {
          asked += 1
          const headers = { 'retry-after': seconds }
          return new Response('', { status: 503, headers })
        },
      })
      const stop = new AbortController()
      const next = merchant.follow({ signal: stop.signal }).next()
      const ended = next.catch((error: unknown) => error)
      await vi.advanceTimersByTimeAsync(1_000)
      // The pauses between tries double from 0.3 s.
      expect(asked).toBeLessThan(5)
      stop.abort('enough')
      expect(await ended).toBe('enough')
    } finally {
      vi.useRealTimers()
    }
  },
)
