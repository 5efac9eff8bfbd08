import { OrderNotFoundError } from 'countersign/orders'
import { StoreError } from 'countersign/store'
import { afterEach, expect, test, vi } from 'vitest'
import {
  createStreamHub,
  type StreamHub,
  type StreamLimits,
} from '../../../src/http/streams/streamHub.js'
import { fakeOrders, recipientOf } from '../support/fakeOrders.js'
import { type FrameReader, readFrames } from '../support/readFrames.js'

const gone = new AbortController()
afterEach(() => vi.useRealTimers())

function openHub(limits: Partial<StreamLimits> = {}) {
  const orders = fakeOrders()
  const hub = createStreamHub(orders, limits)
  return { orders, hub }
}

/** A buyer's stream, which ends with the test file at the latest. */
function openOrder(
  hub: StreamHub,
  id: string,
  lastEventId: string | null = null,
  signal: AbortSignal = gone.signal,
): FrameReader {
  return readFrames(hub.openOrder({ order: { id }, lastEventId, signal }))
}

function openEvents(
  hub: StreamHub,
  orders: ReturnType<typeof fakeOrders>,
  options: {
    lastEventId?: string
    recipients?: string[]
    orderId?: string
  } = {},
): FrameReader {
  const { lastEventId = null, recipients = ['a'], orderId } = options
  const own = recipients.map(recipientOf)
  // What `within` makes of the orders.
  const scoped: typeof orders = {
    ...orders,
    events: async (query) => {
      const { events, cursor } = await orders.events(query)
      const seen = events.filter(({ recipient }) => own.includes(recipient))
      return { events: seen, cursor: seen.at(-1)?.cursor ?? cursor }
    },
  }
  const { signal } = gone
  return readFrames(
    hub.openEvents({ scoped, recipients: own, orderId, lastEventId, signal }),
  )
}

const ids = (frames: readonly { id?: string; event?: string }[]) =>
  frames.map(({ id, event }) => `${id} ${event}`)

test('a buyer is told how the order stands, and then what happens to it', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const stream = openOrder(hub, 'one')
  const order = {
    amount: '1',
    token: recipientOf('f'),
    recipient: recipientOf('a'),
    window: { validAfter: '1', validBefore: '2' },
    state: 'drafted',
    transaction: null,
  }
  expect(await stream.next()).toEqual({
    id: '1',
    event: 'status',
    data: { type: 'status', at: '1000', order },
  })
  orders.tell('two', 'drafted')
  orders.tell('one', 'accepted')
  expect(await stream.next()).toEqual({
    id: '2',
    event: 'accepted',
    data: { type: 'accepted', at: '1002', order: { ...order, amount: '2' } },
  })
  await stream.cancel()
})

test('what is the merchant’s alone is not told to a buyer', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const stream = openOrder(hub, 'one')
  await stream.next()
  orders.tell('one', 'needsReview')
  orders.tell('one', 'deadlineNear')
  orders.tell('one', 'accepted')
  expect(ids(await stream.take(1))).toEqual(['4 accepted'])
  await stream.cancel()
})

test('a buyer that comes back is told what it missed, from where it was', async () => {
  const { orders, hub } = openHub()
  for (const type of [
    'drafted',
    'accepted',
    'needsReview',
    'capturing',
  ] as const)
    orders.tell('one', type)
  const stream = openOrder(hub, 'one', '1')
  expect(ids(await stream.take(3))).toEqual([
    '1 status',
    '2 accepted',
    '4 capturing',
  ])
  await stream.cancel()
})

test.each(['', 'x', '-1', '1e3', '9'.repeat(19), '9'.repeat(40), '1\n2'])(
  'an id that was never sent, such as %j, begins at the present',
  async (lastEventId) => {
    const { orders, hub } = openHub()
    orders.tell('one', 'drafted')
    orders.tell('one', 'accepted')
    const buyer = openOrder(hub, 'one', lastEventId)
    expect(ids(await buyer.take(1))).toEqual(['2 status'])
    const merchant = openEvents(hub, orders, { lastEventId })
    expect(await merchant.next()).toEqual({ id: '2' })
    orders.tell('one', 'capturing')
    expect(ids(await buyer.take(1))).toEqual(['3 capturing'])
    expect(ids(await merchant.take(1))).toEqual(['3 capturing'])
    await Promise.all([buyer.cancel(), merchant.cancel()])
  },
)

test('a merchant is told every event of its own recipients, and no other', async () => {
  const { orders, hub } = openHub()
  const [a, b] = [
    openEvents(hub, orders),
    openEvents(hub, orders, { recipients: ['b'] }),
  ]
  expect(await Promise.all([a.next(), b.next()])).toEqual([
    { id: '0' },
    { id: '0' },
  ])
  orders.tell('one', 'drafted')
  orders.tell('two', 'drafted', { recipient: recipientOf('b') })
  orders.tell(undefined, 'unmatched')
  orders.tell('two', 'fulfil', { recipient: recipientOf('b') })
  expect(ids(await a.take(2))).toEqual(['1 drafted', '3 unmatched'])
  expect(await b.next()).toEqual({
    id: '2',
    event: 'drafted',
    data: {
      chainId: 31337,
      token: recipientOf('f'),
      recipient: recipientOf('b'),
      cursor: '2',
      orderId: 'two',
      sequence: 1,
      type: 'drafted',
      at: '1001',
      data: {},
    },
  })
  expect(ids(await b.take(1))).toEqual(['4 fulfil'])
  await Promise.all([a.cancel(), b.cancel()])
})

test('a merchant that was long away is told page by page, while more comes', async () => {
  const { orders, hub } = openHub()
  for (let count = 0; count < 2_500; count++) orders.tell('one', 'capturing')
  const stream = openEvents(hub, orders, { lastEventId: '0' })
  expect(await stream.next()).toEqual({ id: '0' })
  const before = await stream.take(1_200)
  for (let count = 0; count < 3_000; count++) orders.tell('one', 'capturing')
  const after = await stream.take(4_300)
  expect([...before, ...after].map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 5_500 }, (_, index) => index + 1),
  )
  await stream.cancel()
})

test('a merchant follows one order, from its beginning or from the present', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  orders.tell('two', 'drafted')
  orders.tell('one', 'accepted')
  orders.tell('two', 'accepted')
  const past = { orderId: 'one', lastEventId: '0' }
  const whole = openEvents(hub, orders, past)
  const present = openEvents(hub, orders, { orderId: 'one' })
  expect(await whole.next()).toEqual({ id: '0' })
  expect(ids(await whole.take(2))).toEqual(['1 drafted', '3 accepted'])
  expect(await present.next()).toEqual({ id: '3' })
  orders.tell('two', 'voided')
  orders.tell(undefined, 'unmatched')
  orders.tell('one', 'capturing')
  expect(ids(await whole.take(1))).toEqual(['7 capturing'])
  expect(ids(await present.take(1))).toEqual(['7 capturing'])
  // Nothing but the order was read for what is told of it.
  const asked = orders.asked.filter((text) => /^events all \d/.test(text))
  expect(asked).not.toContain('events all 0')
  await Promise.all([whole.cancel(), present.cancel()])
})

test('a merchant who follows an order takes no place of its buyers', async () => {
  const { orders, hub } = openHub({ merchantStreams: 2, buyerStreams: 4 })
  orders.tell('one', 'drafted')
  const own = [1, 2].map(() => openEvents(hub, orders, { orderId: 'one' }))
  const buyers = [1, 2, 3, 4].map(() => openOrder(hub, 'one'))
  expect(() => openEvents(hub, orders, { orderId: 'one' })).toThrow('no stream')
  await Promise.all([...own, ...buyers].map((stream) => stream.cancel()))
})

test('streams of one order read it once for all that came together', async () => {
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  const streams = [1, 2, 3, 4].map(() => openOrder(hub, 'one'))
  await Promise.all(streams.map((stream) => stream.next()))
  // Each has looked for what came since, and waits for what comes now.
  await vi.waitFor(
    () =>
      expect(
        orders.asked.filter((asked) => asked === 'events one 1'),
      ).toHaveLength(4),
    60_000,
  )
  orders.asked.length = 0
  orders.tell('one', 'accepted')
  orders.tell('one', 'capturing')
  const told = await Promise.all(streams.map((stream) => stream.take(2)))
  for (const frames of told)
    expect(ids(frames)).toEqual(['2 accepted', '3 capturing'])
  expect(orders.asked.filter((asked) => asked === 'get one')).toHaveLength(1)
  await Promise.all(streams.map((stream) => stream.cancel()))
})

test('events are read only while a stream is open, and once for all', async () => {
  vi.useFakeTimers()
  const { orders, hub } = openHub()
  orders.tell('one', 'drafted')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(orders.asked).toEqual([])
  const streams = [1, 2, 3].map(() => openOrder(hub, 'one'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(orders.asked.filter((asked) => asked.endsWith('latest'))).toHaveLength(
    1,
  )
  const looks = orders.asked.filter((asked) => asked === 'events all 1')
  expect(looks.length).toBeGreaterThanOrEqual(10)
  expect(looks.length).toBeLessThanOrEqual(13)
  await Promise.all(streams.map((stream) => stream.cancel()))
  await vi.advanceTimersByTimeAsync(0)
  orders.asked.length = 0
  await vi.advanceTimersByTimeAsync(5_000)
  expect(orders.asked).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('an order has four streams at most, and a handler as many as it may', async () => {
  const { orders, hub } = openHub({ merchantStreams: 1, buyerStreams: 5 })
  orders.tell('one', 'drafted')
  orders.tell('two', 'drafted')
  const open = (id: string) =>
    hub.openOrder({ order: { id }, lastEventId: null, signal: gone.signal })
  const first = readFrames(open('one'))
  const ones = [first, ...[1, 2, 3].map(() => readFrames(open('one')))]
  expect(open('one')).toBeUndefined()
  const others = [readFrames(open('two')), openEvents(hub, orders)]
  expect(open('two')).toBeUndefined()
  expect(() => openEvents(hub, orders)).toThrow('no stream')
  await first.cancel()
  const again = readFrames(open('one'))
  expect(ids(await again.take(1))).toEqual(['1 status'])
  await Promise.all([again, ...ones, ...others].map((one) => one.cancel()))
})

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
  expect(await merchant.next()).toEqual({ id: '1' })
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
  expect(await merchant.next()).toEqual({ id: '1' })
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
      expect(events).toEqual(visible)
    }
    const late = await openOrder(hub, 'one').rest()
    expect(ids(late)).toEqual([`${types.length + 2} status`])
    const back = await openOrder(hub, 'one', '2').rest()
    expect(back.map(({ event }) => event)).toEqual(['status', ...visible])
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

test('nothing is lost or told twice, however openings and events fall together', async () => {
  const { orders, hub } = openHub()
  orders.fault.now = () =>
    new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
  orders.tell('one', 'drafted')
  let written = 1
  const write = async () => {
    for (; written < 150; written++) {
      orders.tell('one', 'capturing')
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 8))
    }
  }
  const follow = async () => {
    const seen: number[] = []
    while (seen.at(-1) !== 150) {
      const stream = openOrder(hub, 'one', String(seen.at(-1) ?? 1))
      await stream.next()
      const most = seen.length + Math.floor(Math.random() * 30)
      while (seen.length <= most && seen.at(-1) !== 150)
        seen.push(Number((await stream.next())?.id))
      await stream.cancel()
    }
    return seen
  }
  const all = Array.from({ length: 149 }, (_, index) => index + 2)
  const [first, second] = await Promise.all([follow(), follow(), write()])
  expect(first).toEqual(all)
  expect(second).toEqual(all)
})
