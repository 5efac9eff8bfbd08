import type { PaymentStore } from 'countersign/store'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { pickyReceiver } from '../support/pickyReceiver.js'
import { checkTold, tellOrders } from '../support/webhooksChecks.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream, type Stream } from '../support/webhooksStream.js'

test('an order that is refused holds up no other one', async () => {
  const stream = createStream()
  const { receiver, picky } = await pickyReceiver('order-1')
  await tellOrders(stream, 4)
  const run = startRun(stream, receiver)
  const others = () =>
    toldOf(receiver).filter((told) => !told.startsWith('order-1 '))
  await eventually(() => others().length).toBe(9)
  // Everything up to the one that is refused, and where that order begins.
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '1',
    read: '12',
    open: ['2'],
  })
  await stream.tell('order-9', 'drafted')
  await eventually(() => others().length).toBe(10)
  picky.refuses = false
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '13',
    read: '13',
    open: [],
  })
  await run.stop()
  expect(toldOf(receiver).slice(-3)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
  ])
})

test('a thousand refused events of one order hold up no other one', async () => {
  const stream = createStream()
  const { receiver } = await pickyReceiver('order-1')
  const many = Array<'finalityRaised'>(1100).fill('finalityRaised')
  await stream.tell('order-1', ...many)
  await stream.tell('order-2', 'drafted')
  const run = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '0',
    read: '1101',
    open: ['1'],
  })
  await run.stop()
  expect(new Set(toldOf(receiver))).toEqual(
    new Set(['order-1 order.finalityRaised 1', 'order-2 order.drafted 1']),
  )
})

test('a store that fails is tried again, and nothing is told twice', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const random = seededRandom(11)
  const mayFail = () => {
    if (random() < 0.2) throw new Error('the disk is gone')
  }
  const store: PaymentStore = {
    ...stream.store,
    read: async (work) => {
      mayFail()
      return stream.store.read(work)
    },
    write: async (work, options) => {
      if (options?.lease) mayFail()
      return stream.store.write(work, options)
    },
    takeLease: async (wanted) => {
      mayFail()
      return stream.store.takeLease(wanted)
    },
    open: async () => {
      mayFail()
      return stream.store.open()
    },
  }
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      mayFail()
      return stream.orders.events(parameters)
    },
  }
  await tellOrders(stream, 10)
  const run = startRun({ orders, store }, receiver)
  await eventually(() => receiver.received.length).toBe(30)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '30',
    read: '30',
    open: [],
  })
  await run.stop()
  expect(checkTold(receiver)).toEqual(Array(30).fill(1))
  const failed = run.seen.filter(({ name }) => name === 'outbox.failed')
  expect(failed.length).toBeGreaterThan(0)
  expect(failed[0]?.attributes).toEqual({
    target: 'test',
    error: 'Error',
    words: '',
  })
})

test.each([
  [{}],
  [{ read: '1' }],
  [{ read: '1', open: '2' }],
  [{ read: '-1', open: [] }],
  [{ read: '1', open: [2] }],
])('a record like %j is told of, and nothing is sent', async (record) => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted')
  await stream.store.write((it) => it.setValue('webhook:test', record))
  const run = startRun(stream, receiver)
  await eventually(() => run.seen[0]).toEqual({
    name: 'outbox.failed',
    attributes: {
      target: 'test',
      error: 'StoreError',
      words: 'The store has a webhook cursor that cannot be read.',
    },
  })
  await run.stop()
  expect(receiver.received).toEqual([])
})

test('an order that is not of these orders any more stays open', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await tellOrders(stream, 3)
  await stream.store.write((tables) =>
    tables.setValue('webhook:test', { read: '7', open: ['2', '3'] }),
  )
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      const { events, cursor } = await stream.orders.events(parameters)
      const own = events.filter(({ orderId }) => orderId !== 'order-2')
      return { cursor, events: own }
    },
  }
  const run = startRun({ ...stream, orders }, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '2',
    read: '8',
    open: ['3'],
  })
  await run.stop()
  expect(toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
  ])
  startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '9',
    read: '9',
    open: [],
  })
  expect(toldOf(receiver).slice(3)).toEqual([
    'order-2 order.drafted 1',
    'order-2 order.accepted 2',
    'order-2 order.captured 3',
  ])
})

test('a row that makes no message holds up its own order only', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await tellOrders(stream, 2)
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      const { events, cursor } = await stream.orders.events(parameters)
      const spoilt = events.map((event) =>
        event.cursor === 1n ? { ...event, at: 2n ** 63n } : event,
      )
      return { events: spoilt, cursor }
    },
  }
  const run = startRun({ ...stream, orders }, receiver)
  await eventually(() => toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
  ])
  await run.stop()
  expect(await progressOf(stream)).toEqual({
    cursor: '0',
    read: '6',
    open: ['1'],
  })
  expect(run.seen.map(({ name }) => name)).toContain('outbox.failed')
})

test('a target that asks for a pause is sent nothing of any order', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response) =>
    response.writeHead(429, { 'retry-after': '600' }).end(),
  )
  await stream.tell('order-1', 'drafted')
  let readTo = 0n
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      const read = await stream.orders.events(parameters)
      readTo = read.cursor
      return read
    },
  }
  const pause = (_: number, retryAfter = 5) => retryAfter
  const run = startRun({ ...stream, orders }, receiver, { tools: { pause } })
  await eventually(() => run.seen.length).toBe(1)
  await stream.tell('order-2', 'drafted')
  await eventually(() => readTo).toBe(2n)
  await run.stop()
  expect(toldOf(receiver)).toEqual(['order-1 order.drafted 1'])
})
