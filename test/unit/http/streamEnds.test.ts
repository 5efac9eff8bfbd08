import type { OrderEvent } from 'countersign/orders'
import { OrderNotFoundError } from 'countersign/orders'
import { StoreError } from 'countersign/store'
import { expect, test, vi } from 'vitest'
import { beginAfter } from '../support/readFrames.js'
import { ids, openEvents, openHub, openOrder } from '../support/streamHub.js'

test('a reader that takes nothing for too long is cut off, and comes back where it was', async () => {
  const { orders, hub } = openHub({
    room: 4_096,
    patience: 50,
    merchantStreams: 2,
  })
  const stream = openEvents(hub, orders)
  await stream.next()
  const quick = openEvents(hub, orders)
  await quick.next()
  for (let count = 0; count < 100; count++) orders.tell('one', 'capturing')
  expect((await quick.take(100)).at(-1)?.id).toBe('100')
  // Its place is free for another once it is cut off.
  const next = await vi.waitFor(() => openEvents(hub, orders), 60_000)
  const seen = await stream.rest()
  expect(seen.length).toBeLessThan(40)
  expect(seen.map(({ id }) => Number(id))).toEqual(
    seen.map((_, index) => index + 1),
  )
  await next.cancel()
  const again = openEvents(hub, orders, {
    lastEventId: seen.at(-1)?.id ?? '0',
  })
  await again.next()
  expect((await again.take(100 - seen.length)).at(-1)?.id).toBe('100')
  await Promise.all([quick.cancel(), again.cancel()])
})

test('a reader is told thousands at once, of which no more lie than there is room', async () => {
  const { orders, hub } = openHub({ room: 4_096 })
  const stream = openEvents(hub, orders)
  await stream.next()
  for (let count = 0; count < 6_000; count++) orders.tell('one', 'capturing')
  const told = await stream.take(6_000)
  expect(told.map(({ id }) => Number(id))).toEqual(
    told.map((_, index) => index + 1),
  )
  await stream.cancel()
})

test('a store that fails delays a stream, and neither ends nor tears it', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  let faults = 0
  const failNow = (times: number) => {
    faults = times
  }
  orders.fault.now = () => {
    if (faults-- > 0) throw new Error('no store')
  }
  failNow(4)
  const buyer = openOrder(hub, 'one')
  const merchant = openEvents(hub, orders)
  expect(ids(await buyer.take(1))).toEqual(['1 status'])
  expect(await merchant.next()).toEqual(beginAfter('1'))
  for (const round of [2, 3, 4]) {
    failNow(round)
    orders.tell('one', 'capturing')
    expect(ids(await buyer.take(1))).toEqual([`${round} capturing`])
    expect(ids(await merchant.take(1))).toEqual([`${round} capturing`])
  }
  await Promise.all([buyer.cancel(), merchant.cancel()])
})

test('a store that is closed ends its streams, so that no server waits for them', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const buyer = openOrder(hub, 'one')
  const merchant = openEvents(hub, orders)
  expect(ids(await buyer.take(1))).toEqual(['1 status'])
  expect(await merchant.next()).toEqual(beginAfter('1'))
  let isClosed = true
  orders.fault.now = () => {
    if (isClosed) throw new StoreError('is closed')
  }
  expect([await buyer.rest(), await merchant.rest()]).toEqual([[], []])
  expect(await openOrder(hub, 'one').rest()).toEqual([])
  expect(await openEvents(hub, orders).rest()).toEqual([])

  isClosed = false
  const again = openOrder(hub, 'one')
  expect(ids(await again.take(1))).toEqual(['1 status'])
  orders.tell('one', 'accepted')
  expect(ids(await again.take(1))).toEqual(['2 accepted'])
  await again.cancel()
})

test.each([
  ['captured', 'finalityRaised', 'fulfil'],
  ['captured', 'fulfil'],
  ['captured', 'reorged', 'captured', 'finalityRaised', 'fulfil'],
  ['captured', 'refundDue', 'finalityRaised'],
  ['canceled', 'finalityRaised'],
  ['consumed', 'finalityRaised'],
  ['captured', 'fulfil', 'reorged', 'captured', 'finalityRaised'],
] as const)(
  'a stream ends once the order is at its end: %s, %s, %s',
  async (...types) => {
    const { orders, hub } = openHub()
    orders.tell('one', 'drafted')
    orders.tell('one', 'drafted')
    const isLast = types.length > 3 && types[1] === 'fulfil'
    // Told one after the other, a stream sees each of them as it comes.
    const live = isLast ? undefined : openOrder(hub, 'one')
    await live?.next()
    for (const type of types) orders.tell('one', type)
    const visible = types.filter((type) => !/fulfil|refundDue/.test(type))
    if (live) {
      const events = (await live.rest()).map(({ event }) => event)
      expect(events).toEqual([...visible, 'end'])
    }
    const late = await openOrder(hub, 'one').rest()
    const last = types.length + 2
    expect(ids(late)).toEqual([`${last} status`, `${last} end`])
    const back = await openOrder(hub, 'one', '2').rest()
    expect(back.map(({ event }) => event)).toEqual([
      'status',
      ...visible,
      'end',
    ])
  },
)

test.each([
  [['captured', 'finalityRaised']],
  [['captured', 'fulfil', 'reorged']],
  [['canceled', 'finalityRaised', 'reauthorized']],
  [['expired']],
  [['voided']],
] as const)('a stream goes on after %s', async (types) => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  for (const type of types) orders.tell('one', type)
  const stream = openOrder(hub, 'one')
  await stream.next()
  orders.tell('one', 'expired')
  expect((await stream.next())?.event).toBe('expired')
  await stream.cancel()
})

test.each([
  ['refunded', {}],
  ['refundFailed', { reason: 'payerBlocked' }],
] as const)(
  'a stream goes on while a refund is in progress, until %s',
  async (type, data) => {
    const { orders, hub } = openHub()
    const tellOfRefund = (
      event: OrderEvent['type'],
      facts: Record<string, unknown> = {},
    ) =>
      orders.tell('one', event, {
        data: { refundId: 'back', ...facts } as never,
      })
    orders.tell('one', 'drafted')
    orders.tell('one', 'captured')
    tellOfRefund('refundRequested')
    orders.tell('one', 'fulfil')
    const stream = openOrder(hub, 'one')
    await stream.next()
    orders.tell('one', 'finalityRaised')
    tellOfRefund('refundFailed', { reason: 'reorged' })
    orders.tell('one', 'finalityRaised')
    tellOfRefund(type, data)
    expect((await stream.rest()).map(({ event }) => event)).toEqual([
      'finalityRaised',
      'refundFailed',
      'finalityRaised',
      type,
      'end',
    ])
  },
)

test('a stream shows signs of life, and ends after its time', async () => {
  vi.useFakeTimers()
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const stream = openOrder(hub, 'one')
  const all = stream.rest()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(ids(await all)).toEqual(['1 status'])
  expect(stream.text().match(/^:$/gm)).toHaveLength(40)
  expect(vi.getTimerCount()).toBe(0)
})

test('a stream ends with its request, also with one that is over before', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const request = new AbortController()
  const stream = openOrder(hub, 'one', null, request.signal)
  await stream.next()
  request.abort()
  expect(await stream.rest()).toEqual([])
  expect(await openOrder(hub, 'one', null, request.signal).rest()).toEqual([])
})

test('an order that is not there any more ends its streams, not the others', async () => {
  const { orders, hub } = openHub()
  const { get } = orders
  orders.get = (query) =>
    query.orderId === 'one'
      ? Promise.reject(new OrderNotFoundError({ orderId: 'one' }))
      : get(query)
  orders.tell('one', 'drafted')
  orders.tell('two', 'drafted')
  expect(await openOrder(hub, 'one').rest()).toEqual([])
  const other = openOrder(hub, 'two')
  expect(ids(await other.take(1))).toEqual(['1 status'])
  await other.cancel()
})

test('where reading stands still, as with a request that is gone, it starts anew', async () => {
  vi.useFakeTimers()
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const stream = openOrder(hub, 'one')
  await stream.next()
  await vi.advanceTimersByTimeAsync(200)
  let isHung = true
  orders.fault.now = () => (isHung ? new Promise(() => undefined) : undefined)
  await vi.advanceTimersByTimeAsync(1_000)
  isHung = false
  // What was set back tells nothing of how long that was.
  vi.setSystemTime(0)
  orders.tell('one', 'accepted')
  const told = stream.take(1)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(ids(await told)).toEqual(['2 accepted'])
  await stream.cancel()
})
