import { createPaymentHandler } from 'countersign/http'
import { type OrderEvent, OrderNotFoundError } from 'countersign/orders'
import { afterEach, expect, test, vi } from 'vitest'
import { clientsOf, serveTo } from '../support/clientServer.js'
import { fakeOrders, recipientOf } from '../support/fakeOrders.js'
import { order, stubOrders, token } from '../support/httpStub.js'

afterEach(() => {
  vi.useRealTimers()
})

/** A server of orders that are nothing but their events. */
async function openStreams() {
  const orders = fakeOrders()
  const handle = createPaymentHandler(
    stubOrders({
      events: orders.events,
      get: orders.get,
      getForBuyer: async ({ orderId, buyerToken }) => {
        if (buyerToken !== token) throw new OrderNotFoundError({ orderId })
        return { order, payment: undefined }
      },
    }),
    {
      basePath: '/payments',
      authorize: () => ({ recipients: [recipientOf('a')] }),
    },
  )
  const served = await serveTo(handle)
  const tell = (...types: OrderEvent['type'][]) => {
    for (const type of types) orders.tell('one', type)
  }
  return { ...served, tell }
}

/** The ids that a client that comes back named. */
const lastIds = (requests: readonly Request[]) =>
  requests.map(({ headers }) => headers.get('last-event-id'))

test('a buyer follows an order to its end, through lost connections', async () => {
  const { buyer, tell, cut, requests, failures } = await openStreams()
  tell('drafted')
  let opened = 0
  const seen: string[] = []
  const onOpen = () => {
    opened += 1
  }
  for await (const { id, type, order } of buyer.follow({ onOpen })) {
    seen.push(`${id} ${type} of ${order.amount}`)
    if (seen.length === 1) tell('accepted')
    if (type === 'accepted') cut()
    if (opened === 2 && type === 'status') tell('capturing', 'captured')
    if (type === 'captured') tell('finalityRaised', 'fulfil')
  }
  expect(seen).toEqual([
    '1 status of 1',
    '2 accepted of 2',
    '2 status of 2',
    '3 capturing of 4',
    '4 captured of 4',
    '5 finalityRaised of 6',
  ])
  expect(lastIds(requests)).toEqual([null, '2'])
  expect(failures).toEqual(['ServerError no answer'])
})

test('following ends at once with an order that is over, and on a state if asked', async () => {
  const { buyer, tell, requests } = await openStreams()
  tell('drafted', 'canceled', 'finalityRaised')
  const types: string[] = []
  for await (const { type } of buyer.follow()) types.push(type)
  for await (const { type } of buyer.follow({ after: '1' })) types.push(type)
  expect(types).toEqual(['status', 'status', 'canceled', 'finalityRaised'])

  const open = await openStreams()
  open.tell('drafted')
  for await (const { type } of open.buyer.follow({ until: ['drafted'] }))
    types.push(type)
  expect(types.slice(4)).toEqual(['status'])
  expect(lastIds(requests)).toEqual([null, '1'])
})

test('a merchant follows its orders, and learns after which event that begins', async () => {
  const { merchant, tell, cut, requests } = await openStreams()
  tell('drafted')
  const begun: string[] = []
  const seen: string[] = []
  const onOpen = (cursor: string) => {
    begun.push(cursor)
    if (begun.length === 1) cut()
    else tell('accepted', 'voided')
  }
  for await (const { cursor, type } of merchant.follow({ onOpen })) {
    seen.push(`${cursor} ${type}`)
    if (type === 'voided') break
  }
  // It comes back with the cursor of a stream that sent no event.
  expect(begun).toEqual(['1', '1'])
  expect(lastIds(requests)).toEqual([null, '1'])
  expect(seen).toEqual(['2 accepted', '3 voided'])
})

test('a refused stream is not opened again', async () => {
  const { tell, url } = await openStreams()
  tell('drafted')
  const { buyer } = clientsOf({
    url,
    fetch: (request) => {
      request.headers.set('authorization', `Bearer ${'0'.repeat(64)}`)
      return fetch(request)
    },
  })
  await expect(buyer.follow().next()).rejects.toMatchObject({
    reason: 'orderNotFound',
  })
  const page = await serveTo(() => new Response('<html>'))
  await expect(page.buyer.follow().next()).rejects.toMatchObject({
    name: 'ServerError',
    status: 200,
  })
  expect(page.asked).toHaveLength(1)
})

test('a signal, and leaving the loop, close the stream', async () => {
  let open = 0
  const { buyer } = await serveTo(({ signal }) => {
    open += 1
    signal.addEventListener('abort', () => {
      open -= 1
    })
    const frame = 'id: 1\nevent: status\ndata: {"order":{}}\n\n'
    const body = new ReadableStream({
      start: (controller) =>
        controller.enqueue(new TextEncoder().encode(frame)),
    })
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
  for await (const _ of buyer.follow()) break
  await expect.poll(() => open).toBe(0)

  const stop = new AbortController()
  const reason = new Error('the page is closed')
  const events = buyer.follow({ signal: stop.signal })
  await events.next()
  expect(open).toBe(1)
  stop.abort(reason)
  await expect(events.next()).rejects.toBe(reason)
  await expect.poll(() => open).toBe(0)
})

test('a stream that falls silent is opened again', async () => {
  vi.useFakeTimers()
  let opened = 0
  const { buyer, failures } = clientsOf({
    url: 'https://shop.test',
    fetch: async ({ signal }) => {
      opened += 1
      const body = new ReadableStream({
        start: (controller) => {
          signal.addEventListener('abort', () => controller.error(new Error()))
          const end = 'event: end\ndata: {}\n\n'
          if (opened > 1) controller.enqueue(new TextEncoder().encode(end))
        },
      })
      const headers = { 'content-type': 'text/event-stream' }
      return new Response(body, { headers })
    },
  })
  const ended = buyer.follow().next()
  await vi.advanceTimersByTimeAsync(39_999)
  expect(failures).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await ended).toEqual({ done: true, value: undefined })
  expect(failures).toEqual(['ServerError no answer'])
})
