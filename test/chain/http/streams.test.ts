import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import type { OrderEvent, Orders } from 'countersign/orders'
import type { PaymentStore } from 'countersign/store'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { createStreamHub } from '../../../src/http/streams/streamHub.js'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import {
  beginAfter,
  type FrameReader,
  readFrames,
} from '../../unit/support/readFrames.js'
import { sqliteFile } from '../support/chaos.js'
import { fundedAccount } from '../support/desk.js'
import { misfitsOf } from '../support/eventContract.js'
import { openShop, pay, type Shop } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const site = 'https://shop.example/payments'

/** A handler as a shop mounts it; its merchant is whoever says so. */
function serve({ orders }: Pick<Shop, 'orders'>) {
  const handler = createPaymentHandler(orders, {
    basePath: '/payments',
    authorize: ({ headers }) => {
      const recipient = headers.get('x-merchant')
      return recipient ? { recipients: [recipient as never] } : undefined
    },
  })
  const open = async (path: string, headers: Record<string, string>) =>
    readFrames(await handler(new Request(`${site}${path}`, { headers })))
  return {
    buyer: (id: string, token: string, lastEventId?: string) =>
      open(`/orders/${id}/events`, {
        authorization: `Bearer ${token}`,
        ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
      }),
    merchant: (recipient: string, lastEventId?: string, query = '') =>
      open(`/merchant/events${query}`, {
        'x-merchant': recipient,
        ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
      }),
  }
}

/** Everything on record, read as whoever keeps the cursor reads it. */
async function recordOf(orders: Pick<Orders, 'events'>): Promise<OrderEvent[]> {
  const all: OrderEvent[] = []
  for (;;) {
    const after = all.at(-1)?.cursor ?? 0n
    const { events } = await orders.events({ after, limit: 1_000 })
    if (!events.length) return all
    all.push(...events)
  }
}

/** A store that now and then does not answer. */
function unsteady(
  store: PaymentStore,
  random: () => number,
): PaymentStore & { calm: () => void } {
  let isCalm = false
  return {
    ...store,
    read: async (work) => {
      if (!isCalm && random() < 0.3) throw new Error('no answer')
      return store.read(work)
    },
    calm: () => {
      isCalm = true
    },
  }
}

test('a buyer sees a payment from its signature to its fulfilment, live', async () => {
  const { store } = sqliteFile()
  const sellers = [await fundedAccount(chain)]
  const shop = await openShop(chain, {
    store,
    sellers,
    policy: { capture: 'onAccept', fulfilAt: 'included' },
  })
  const buyer = await fundedAccount(chain, 12_500_000n)
  const { order, payment, buyerToken } = await shop.orders.draft({
    amount: '12.50',
  })
  const web = serve(shop)
  const stream = await web.buyer(order.id, buyerToken)
  expect(await stream.next()).toMatchObject({ id: '1', event: 'status' })
  const stop = new AbortController()
  const run = shop.orders.run({ signal: stop.signal })
  await shop.orders.accept({
    orderId: order.id,
    payment: await pay(buyer, payment),
  })
  const told = await stream.rest()
  stop.abort()
  await run
  expect(told.map(({ data }) => misfitsOf('BuyerEvent', data))).toEqual(
    told.map(() => undefined),
  )
  const kinds = told.map(({ event }) => event)
  expect(kinds.filter((kind) => kind !== 'preconfirmed')).toEqual([
    'accepted',
    'capturing',
    'captured',
    'end',
  ])
  const settled = await shop.orders.get({ orderId: order.id })
  expect(told.at(-1)?.data).toEqual({
    type: 'end',
    at: expect.stringMatching(/^\d{13}$/),
    order: {
      amount: '12.5',
      token: chain.token,
      chainId: chain.chain.id,
      recipient: shop.seller,
      window: {
        validAfter: String(order.validAfter),
        validBefore: String(order.validBefore),
      },
      state: 'captured',
      transaction: {
        hash: settled.capture?.transactionHash,
        finality: 'included',
      },
      refunds: [],
    },
  })
  // Whoever comes back is told the rest, by another process as by this one.
  const again = serve(await openShop(chain, { sellers, store }))
  const back = await again.buyer(order.id, buyerToken, told[0]?.id)
  expect((await back.rest()).map(({ id, event }) => [id, event])).toEqual([
    [told[0]?.id, 'status'],
    ...told.slice(1).map(({ id, event }) => [id, event]),
  ])
})

test('streams need the right token, and are as many as an order may have', async () => {
  const shop = await openShop(chain)
  const one = await shop.orders.draft({ amount: '1' })
  const two = await shop.orders.draft({ amount: '1' })
  const handler = createPaymentHandler(shop.orders, {
    authorize: () => undefined,
  })
  const open = (id: string, token: string) =>
    handler(
      new Request(`https://shop.example/orders/${id}/events`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  expect((await open(one.order.id, two.buyerToken)).status).toBe(404)
  const four = await Promise.all(
    [1, 2, 3, 4].map(() => open(one.order.id, one.buyerToken)),
  )
  expect(four.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  for (const { headers } of four)
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(
      ['text/event-stream; charset=utf-8', 'no-store, no-transform'],
    )
  const fifth = await open(one.order.id, one.buyerToken)
  expect(fifth.status).toBe(429)
  expect(await fifth.json()).toMatchObject({ reason: 'tooManyStreams' })
  const other = await open(two.order.id, two.buyerToken)
  expect(other.status).toBe(200)
  await four[0]?.body?.cancel()
  const again = await open(one.order.id, one.buyerToken)
  expect(again.status).toBe(200)
  for (const { body } of [other, again, ...four.slice(1)]) await body?.cancel()
})

test('two merchants are told all of their own and nothing of each other’s', async () => {
  const { store } = sqliteFile()
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const { orders } = await openShop(chain, { sellers, store })
  const web = serve({ orders })
  const names = sellers.map(({ address }) => address)
  const streams = await Promise.all(names.map((name) => web.merchant(name)))
  expect(await Promise.all(streams.map((stream) => stream.next()))).toEqual([
    beginAfter('0'),
    beginAfter('0'),
  ])
  const work = async (recipient: (typeof names)[number]) => {
    for (let count = 0; count < 10; count++) {
      const { order } = await orders.draft({ amount: '1', recipient })
      await orders.void({ orderId: order.id })
    }
  }
  await Promise.all([...names, ...names].map(work))
  const record = await recordOf(orders)
  expect(record).toHaveLength(80)
  for (const [index, stream] of streams.entries()) {
    const own = names[index]?.toLowerCase()
    const told = await stream.take(40)
    await stream.cancel()
    for (const { data } of told)
      expect(misfitsOf('OrderEvent', data)).toBeUndefined()
    expect(told.map(({ id }) => id)).toEqual(
      record.flatMap(({ recipient, cursor }) =>
        recipient === own ? [String(cursor)] : [],
      ),
    )
    expect(stream.text()).not.toContain(
      names[1 - index]?.slice(2).toLowerCase(),
    )
  }
})

test('a merchant is told all of one order, and of no other', async () => {
  const { store } = sqliteFile()
  const { orders, seller } = await openShop(chain, { store })
  const web = serve({ orders })
  const ids = ['one', 'two/three', 'four']
  for (const orderId of ids) await orders.draft({ amount: '1', orderId })
  for (const orderId of ids) await orders.void({ orderId })
  const [, orderId = ''] = ids
  const query = `?after=0&orderId=${encodeURIComponent(orderId)}`
  const stream = await web.merchant(seller, undefined, query)
  expect(await stream.next()).toEqual(beginAfter('0'))
  const record = await recordOf(orders)
  const own = record.filter((event) => event.orderId === orderId)
  expect(own.map(({ type }) => type)).toEqual(['drafted', 'voided'])
  expect(await stream.take(2)).toEqual(
    own.map(({ cursor, type }) => ({
      id: String(cursor),
      event: type,
      data: expect.objectContaining({ orderId, type, cursor: String(cursor) }),
    })),
  )
  await stream.cancel()
  // Whoever comes back goes on behind what it was told last.
  const back = await web.merchant(seller, String(own[0]?.cursor), query)
  expect((await back.take(2)).map(({ id, event }) => [id, event])).toEqual([
    [String(own[0]?.cursor), 'status'],
    [String(own[1]?.cursor), 'voided'],
  ])
  await back.cancel()
})

test('a cursor of a database that is gone is refused, and one of a narrower view is not', async () => {
  const sellers = [await fundedAccount(chain), await fundedAccount(chain)]
  const [recipient, other] = sellers.map(({ address }) => address)
  const draftAt = (shop: Shop, at: Shop['seller'] | undefined) =>
    shop.orders.draft({ amount: '1', recipient: at })
  const gone = await openShop(chain, { sellers })
  for (let count = 0; count < 3; count++) await draftAt(gone, recipient)
  const { cursor: after } = await gone.orders.events({ after: 'latest' })
  const shop = await openShop(chain, { sellers, store: sqliteFile().store })
  const { order } = await draftAt(shop, recipient)
  await draftAt(shop, other)
  const own = shop.orders.within({ recipients: [recipient ?? '0x'] })
  const web = createPaymentHandler(shop.orders, {
    basePath: '/payments',
    authorize: () => ({ recipients: [recipient ?? '0x'] }),
  })
  const ask = (id: unknown, query = '') => {
    const headers = { 'last-event-id': String(id) }
    const url = `${site}/merchant/events${query}`
    return web(new Request(url, query ? {} : { headers }))
  }
  const ahead = { name: 'CursorAheadError', details: { after, newest: 2n } }
  for (const { orders } of [shop, { orders: own }])
    for (const orderId of [undefined, order.id])
      await expect(orders.events({ after, orderId })).rejects.toMatchObject(
        ahead,
      )
  for (const query of [
    '',
    `?after=${after}`,
    `?after=${after}&orderId=${order.id}`,
  ]) {
    const refused = await ask(after, query)
    expect(refused.status).toBe(409)
    expect(await refused.json()).toMatchObject({ reason: 'cursorAhead' })
  }
  expect(await own.events({ after: 2n })).toEqual({ events: [], cursor: 2n })
  const stream = readFrames(await ask(2n))
  expect(await stream.next()).toEqual(beginAfter('2'))
  await stream.cancel()
})

test.each([
  ['memory', undefined],
  ['SQLite', sqliteFile],
] as const)(
  'nothing is lost or told twice while readers come and go and %s fails at times',
  async (_, open) => {
    const random = seededRandom(5)
    const sellers = [await fundedAccount(chain)]
    const kept = open ? { store: open().store } : {}
    const shop = await openShop(chain, { sellers, ...kept })
    const { orders } = shop
    // What is read over HTTP reads through a store of its own temper.
    const store = unsteady(shop.store, random)
    const view = await openShop(chain, { sellers, store })
    const hub = createStreamHub(view.orders)
    const signal = new AbortController().signal
    let isOver = false
    const write = async () => {
      for (let count = 0; count < 60; count++) {
        const { order } = await orders.draft({ amount: '1' })
        await orders.void({ orderId: order.id })
      }
      isOver = true
    }
    /** Reads in short turns, each from where the last one ended. */
    const follow = async () => {
      const seen: string[] = []
      while (!isOver || seen.length < 120) {
        const lastEventId = seen.at(-1) ?? '0'
        const { seller } = shop
        const scoped = view.orders.within({ recipients: [seller] })
        const stream = readFrames(
          hub.openEvents({ scoped, recipients: [seller], lastEventId, signal }),
        )
        expect(await stream.next()).toEqual(beginAfter(lastEventId))
        await readTurn(
          stream,
          seen,
          seen.length + 1 + Math.floor(random() * 20),
        )
        await stream.cancel()
      }
      return seen
    }
    const readTurn = async (
      stream: FrameReader,
      seen: string[],
      most: number,
    ) => {
      while (seen.length < most && seen.length < 120)
        seen.push((await stream.next())?.id ?? 'none')
    }
    const [one, two] = await Promise.all([follow(), follow(), write()])
    store.calm()
    const record = (await recordOf(orders)).map(({ cursor }) => String(cursor))
    expect(record).toHaveLength(120)
    expect(one).toEqual(record)
    expect(two).toEqual(record)
  },
)

test('each of many buyers is told its own order’s events, in their order', async () => {
  const { store } = sqliteFile()
  const shop = await openShop(chain, { store })
  const web = serve(shop)
  const drafted = await Promise.all(
    Array.from({ length: 30 }, () => shop.orders.draft({ amount: '1' })),
  )
  const streams = await Promise.all(
    drafted.map(({ order, buyerToken }) => web.buyer(order.id, buyerToken)),
  )
  const first = await Promise.all(streams.map((stream) => stream.next()))
  for (const frame of first)
    expect(frame).toMatchObject({ id: '1', event: 'status' })
  await Promise.all(
    drafted.map(({ order: { id: orderId } }) => shop.orders.void({ orderId })),
  )
  const told = await Promise.all(streams.map((stream) => stream.next()))
  for (const frame of told)
    expect(frame).toMatchObject({
      id: '2',
      event: 'voided',
      data: { order: { state: 'voided' } },
    })
  await Promise.all(streams.map((stream) => stream.cancel()))
})

test('a buyer that hangs up frees its places, behind a real server', async () => {
  const shop = await openShop(chain)
  const { order, buyerToken } = await shop.orders.draft({ amount: '1' })
  const handle = createPaymentHandler(shop.orders, {
    authorize: () => undefined,
  })
  const server = createAdaptorServer({ fetch: handle })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/orders/${order.id}/events`
  const headers = { authorization: `Bearer ${buyerToken}` }
  const hangUp = new AbortController()
  for (let count = 0; count < 4; count++) {
    const response = await fetch(url, { headers, signal: hangUp.signal })
    expect(await readFrames(response).next()).toMatchObject({ id: '1' })
  }
  expect((await fetch(url, { headers })).status).toBe(429)
  hangUp.abort()
  const open = () => fetch(url, { headers })
  await expect.poll(async () => (await open()).status).toBe(200)
})
