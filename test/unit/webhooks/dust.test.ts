import type { OrderEventType } from 'countersign/orders'
import { getWebhookLag } from 'countersign/webhooks'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Received,
  type Receiver,
  startReceiver,
} from '../support/webhooksReceiver.js'
import {
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

const hour = 3_600_000

/** Refuses what this says, for as long as it is to. */
async function choosyReceiver(
  isRefused: (received: Received) => boolean,
  header: Record<string, string> = {},
) {
  const choosy = { refuses: true }
  const receiver = await startReceiver((response, received) => {
    if (choosy.refuses && isRefused(received))
      return response.writeHead(500, header).end()
    return response.writeHead(204).end()
  })
  return { receiver, choosy }
}

const isDust = ({ payload }: Received) => payload.type === 'order.unmatched'

const fulfilsOf = (receiver: Receiver) =>
  toldOf(receiver).filter((told) => told.includes('order.fulfil'))

const repeat = (type: OrderEventType, times: number) =>
  Array<OrderEventType>(times).fill(type)

test('refused payments without an order hold up no order', async () => {
  const stream = createStream()
  const { receiver } = await choosyReceiver(isDust)
  await stream.tell(undefined, ...repeat('unmatched', 1000))
  for (let order = 0; order < 5; order++)
    await stream.tell(`order-${order}`, 'fulfil')
  const run = startRun(stream, receiver, { tools: { pause: () => hour } })
  await eventually(() => fulfilsOf(receiver).length).toBe(5)
  await run.stop()
  // The first payment without an order is tried once in this hour.
  expect(receiver.received).toHaveLength(6)
})

test('weeks of refused payments without an order leave one cursor on record', async () => {
  const stream = createStream()
  const { receiver } = await choosyReceiver(isDust)
  for (let week = 0; week < 3; week++) {
    await stream.tell(undefined, ...repeat('unmatched', 400))
    await stream.tell(`order-${week}`, 'fulfil')
  }
  const run = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '0',
    read: '1203',
    open: ['1'],
  })
  await run.stop()
})

test('what was put aside arrives once it is taken, each event once', async () => {
  const stream = createStream()
  const { receiver, choosy } = await choosyReceiver(
    ({ payload }) => payload.type !== 'order.fulfil',
  )
  await stream.tell('order-1', ...repeat('finalityRaised', 130))
  await stream.tell(undefined, ...repeat('unmatched', 130))
  await stream.tell('order-2', 'fulfil')
  const first = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '0',
    read: '261',
    open: ['1', '131'],
  })
  await first.stop()
  choosy.refuses = false
  receiver.received.length = 0
  startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '261',
    read: '261',
    open: [],
  })
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect([ids.length, new Set(ids).size]).toEqual([260, 260])
  const sequences = receiver.received.flatMap(({ payload: { data } }) =>
    data.orderId === 'order-1' ? data.sequence : [],
  )
  const inOrder = [...sequences].sort((left, right) => left - right)
  expect(sequences).toEqual(inOrder)
})

test('a pause that is asked for payments without an order pauses no order', async () => {
  const stream = createStream()
  const header = { 'retry-after': '3600' }
  const { receiver } = await choosyReceiver(isDust, header)
  await stream.tell(undefined, 'unmatched')
  const pause = (_: number, retryAfter = 5) => retryAfter
  const run = startRun(stream, receiver, { tools: { pause } })
  await eventually(() => run.seen.length).toBe(1)
  await stream.tell('order-1', 'fulfil')
  await eventually(() => fulfilsOf(receiver).length).toBe(1)
  expect(receiver.received).toHaveLength(2)
})

test('the loss of a database is reported before refused payments are over', async () => {
  const stream = createStream()
  const { receiver } = await choosyReceiver(isDust)
  await stream.tell(undefined, ...repeat('unmatched', 3), 'storeReplaced')
  startRun(stream, receiver, { tools: { pause: () => 50 } })
  await eventually(() =>
    receiver.received.map(({ payload }) => payload.type),
  ).toContain('order.storeReplaced')
})

test('orders that are refused for one type of event hold up no other order', async () => {
  const stream = createStream()
  const isExpired = ({ payload }: Received) => payload.type === 'order.expired'
  const { receiver } = await choosyReceiver(isExpired)
  for (let order = 0; order < 1200; order++)
    await stream.tell(`visit-${order}`, 'expired')
  await stream.tell('order-1', 'drafted', 'accepted', 'fulfil')
  await stream.tell('order-2', 'fulfil')
  startRun(stream, receiver, { tools: { pause: () => 1 } })
  await eventually(() => fulfilsOf(receiver).length).toBe(2)
})

test('after one refused event, another type of event is tried next', async () => {
  const stream = createStream()
  const isExpired = ({ payload }: Received) => payload.type === 'order.expired'
  const { receiver } = await choosyReceiver(isExpired)
  for (let order = 0; order < 50; order++)
    await stream.tell(`visit-${order}`, 'expired')
  await stream.tell('order-1', 'fulfil')
  startRun(stream, receiver, { tools: { pause: () => 1 } })
  await eventually(() => fulfilsOf(receiver).length).toBe(1)
  const place = receiver.received.findIndex(
    ({ payload }) => payload.type === 'order.fulfil',
  )
  // Eight are under way when the first is refused.
  expect(place).toBeLessThanOrEqual(9)
})

test('a receiver that hangs for orders that failed before is sent others', async () => {
  const stream = createStream()
  const held: (() => void)[] = []
  let isOver = false
  const tried = new Set<unknown>()
  const receiver = await startReceiver((response, { payload }) => {
    const { orderId } = payload.data
    const isGood = orderId?.startsWith('good')
    if (isGood || isOver) return response.writeHead(204).end()
    if (tried.has(orderId))
      return held.push(() => response.writeHead(500).end())
    tried.add(orderId)
    return response.writeHead(500).end()
  })
  for (let order = 0; order < 20; order++)
    await stream.tell(`bad-${order}`, 'drafted')
  startRun(stream, receiver, {
    tools: { timeout: hour, lease: 9 * hour, pause: () => 1 },
  })
  onTestFinished(() => {
    isOver = true
    for (const answer of held) answer()
  })
  await eventually(() => held.length).toBeGreaterThan(0)
  for (let order = 0; order < 3; order++) {
    await stream.tell(`good-${order}`, 'drafted')
    await eventually(() => toldOf(receiver)).toContain(
      `good-${order} order.drafted 1`,
    )
  }
  await eventually(() => held.length).toBe(4)
})

test('what waits behind others is named, with the time since when', async () => {
  const stream = createStream()
  const { receiver } = await choosyReceiver(
    (it) => isDust(it) || it.payload.data.orderId === 'bad',
  )
  await stream.tell('bad', 'drafted', 'accepted')
  await stream.tell(undefined, 'unmatched', 'unmatched')
  await stream.tell('good', 'fulfil')
  startRun(stream, receiver)
  const { orders, store } = stream
  const at = 1_760_000_000_123n
  await eventually(() =>
    getWebhookLag(orders, { store, target: 'test' }),
  ).toMatchObject({
    putAside: [
      { orderId: 'bad', type: 'drafted', cursor: 1n, since: at },
      { orderId: undefined, type: 'unmatched', cursor: 3n, since: at },
    ],
    putAsideCount: 2,
  })
})
