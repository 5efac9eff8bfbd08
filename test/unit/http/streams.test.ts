import { expect, test, vi } from 'vitest'
import { recipientOf } from '../support/fakeOrders.js'
import { beginAfter, readFrames } from '../support/readFrames.js'
import {
  gone,
  ids,
  openEvents,
  openHub,
  openOrder,
} from '../support/streamHub.js'

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
    refunds: [],
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
    expect(await merchant.next()).toEqual(beginAfter('2'))
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
    beginAfter('0'),
    beginAfter('0'),
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
  expect(await stream.next()).toEqual(beginAfter('0'))
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
  expect(await whole.next()).toEqual(beginAfter('0'))
  expect(ids(await whole.take(2))).toEqual(['1 drafted', '3 accepted'])
  expect(await present.next()).toEqual(beginAfter('3'))
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
