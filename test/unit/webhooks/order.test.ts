import { expect, onTestFinished, test } from 'vitest'
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
import { createStream } from '../support/webhooksStream.js'

test('eight orders are told at the same time, and never more', async () => {
  const stream = createStream()
  const waiting: (() => void)[] = []
  let most = 0
  const receiver = await startReceiver((response) => {
    waiting.push(() => response.writeHead(204).end())
    most = Math.max(most, waiting.length)
  })
  await tellOrders(stream, 9)
  const run = startRun(stream, receiver)
  for (let left = 27; left > 0; left--) {
    await eventually(() => waiting.length).toBe(Math.min(8, left))
    waiting.shift()?.()
  }
  await eventually(() => run.seen.length).toBe(27)
  expect(checkTold(receiver)).toEqual(Array(27).fill(1))
  expect(most).toBe(8)
})

test('what fails is tried again until it is taken, under the same id', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(index < 3 ? 500 : 200).end(),
  )
  await stream.tell('order-1', 'drafted', 'accepted')
  const run = startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(5)
  await run.stop()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  const bodies = receiver.received.map(({ text }) => text)
  expect(new Set(ids.slice(0, 4)).size).toBe(1)
  expect(new Set(bodies.slice(0, 4)).size).toBe(1)
  expect(ids[4]).not.toBe(ids[0])
  expect(
    run.seen.map(({ name, attributes }) => ({ name, ...attributes })),
  ).toEqual([
    ...[1, 2, 3].map((tries) => ({
      name: 'webhook.failed',
      target: 'test',
      type: 'drafted',
      orderId: 'order-1',
      tries,
      status: 500,
      reason: 'statusRefused',
    })),
    {
      name: 'webhook.delivered',
      target: 'test',
      type: 'drafted',
      orderId: 'order-1',
      tries: 4,
      status: 200,
    },
    {
      name: 'webhook.delivered',
      target: 'test',
      type: 'accepted',
      orderId: 'order-1',
      tries: 1,
      status: 200,
    },
  ])
})

test('nothing that is observed shows a secret, a body or a path', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, _, index) => {
    if (index === 0) response.socket?.destroy()
    else if (index === 1) response.writeHead(500).end('a body')
    else response.writeHead(204).end()
  })
  await stream.tell('order-1', 'drafted')
  const run = startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(3)
  await run.stop()
  const shown = JSON.stringify(run.seen)
  expect(run.seen).toHaveLength(3)
  for (const hidden of [run.secret.slice(6), 'key=', 'hooks', 'a body', 'v1,'])
    expect(shown).not.toContain(hidden)
})

test('a promise of who watches that fails stops nothing', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const lost: unknown[] = []
  const keep = (reason: unknown) => lost.push(reason)
  process.on('unhandledRejection', keep)
  onTestFinished(() => void process.off('unhandledRejection', keep))
  let watched = 0
  const run = startRun(stream, receiver, {
    observe: async () => {
      watched++
      throw new Error('of who watches')
    },
  })
  await stream.tell('order-1', 'drafted', 'accepted')
  await eventually(() => watched).toBe(2)
  await run.stop()
  // Rejections that nobody handles are told after the microtasks.
  await new Promise(setImmediate)
  expect(lost).toEqual([])
})

test('a receiver that fails at random is told everything, in order', async () => {
  const random = seededRandom(7)
  const taken = new Set<number>()
  const stream = createStream()
  const receiver = await startReceiver((response, _, index) => {
    const draw = random()
    if (draw < 0.15) return response.writeHead(500).end()
    if (draw < 0.25) return response.socket?.destroy()
    if (draw < 0.3) return response.writeHead(302, { location: '/' }).end()
    taken.add(index)
    return response.writeHead(204).end()
  })
  await tellOrders(stream, 20)
  const run = startRun(stream, receiver)
  await eventually(() => taken.size).toBe(60)
  await run.stop()
  expect(checkTold(receiver, (index) => taken.has(index))).toEqual(
    Array(60).fill(1),
  )
  expect(await progressOf(stream)).toEqual({
    cursor: '60',
    read: '60',
    open: [],
  })
})

test('what was left open is gone on with after a restart, and nothing else', async () => {
  const stream = createStream()
  const { receiver } = await pickyReceiver('order-1')
  await tellOrders(stream, 4)
  const first = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '1',
    read: '12',
    open: ['2'],
  })
  await first.stop()
  await stream.tell('order-2', 'canceled')
  const later = await startReceiver()
  const second = startRun(stream, later)
  await eventually(() => later.received.length).toBe(4)
  await second.stop()
  expect(toldOf(later).sort()).toEqual([
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
    'order-1 order.drafted 1',
    'order-2 order.canceled 4',
  ])
  checkTold({
    received: [...receiver.received.slice(0, -1), ...later.received].filter(
      ({ payload }) => payload.data.orderId === 'order-1',
    ),
  })
  expect(await progressOf(stream)).toEqual({
    cursor: '13',
    read: '13',
    open: [],
  })
})

test('a try under way ends before the run does, and is on record', async () => {
  const stream = createStream()
  const held: { answer?: () => void } = {}
  const receiver = await startReceiver((response) => {
    held.answer = () => response.writeHead(204).end()
  })
  await stream.tell('order-1', 'drafted', 'accepted')
  const run = startRun(stream, receiver, { tools: { lease: 60_000 } })
  await eventually(() => receiver.received.length).toBe(1)
  const stopped = run.stop()
  held.answer?.()
  await stopped
  expect(await progressOf(stream)).toEqual({
    cursor: '1',
    read: '1',
    open: [],
  })
  expect(receiver.received).toHaveLength(1)
  const wanted = { key: 'webhook:test', owner: 'other', milliseconds: 1 }
  expect(await stream.store.takeLease(wanted)).toBeDefined()
})

test('a target that is new begins with the first event, or with the next', async () => {
  const stream = createStream()
  await stream.tell('order-1', 'drafted', 'accepted')
  const [all, next] = [await startReceiver(), await startReceiver()]
  const runs = [
    startRun(stream, all, { name: 'all' }),
    startRun(stream, next, { name: 'next', from: 'now' }),
  ]
  await eventually(() => all.received.length).toBe(2)
  await eventually(() => progressOf(stream, 'next')).toEqual({
    cursor: '2',
    read: '2',
    open: [],
  })
  await stream.tell('order-1', 'captured')
  await eventually(() => next.received.length).toBe(1)
  await Promise.all(runs.map(({ stop }) => stop()))
  expect(toldOf(next)).toEqual(['order-1 order.captured 3'])
  await stream.tell('order-1', 'fulfil')
  startRun(stream, next, { name: 'next', from: 'now' })
  await eventually(() => next.received.length).toBe(2)
})

test('what happens while nobody runs is told a target from now too', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const run = startRun(stream, receiver, { from: 'now' })
  await eventually(() => progressOf(stream)).toBeDefined()
  await run.stop()
  await stream.tell('order-1', 'drafted')
  startRun(stream, receiver, { from: 'now' })
  await eventually(() => toldOf(receiver)).toEqual(['order-1 order.drafted 1'])
})

test('each target is told on its own', async () => {
  const stream = createStream()
  const good = await startReceiver()
  const bad = await startReceiver((response) => response.writeHead(500).end())
  await tellOrders(stream, 3)
  startRun(stream, bad, { name: 'bad' })
  startRun(stream, good, { name: 'good' })
  await eventually(() => good.received.length).toBe(9)
  expect(await progressOf(stream, 'bad')).toEqual({
    cursor: '0',
    read: '0',
    open: [],
  })
})

test('what concerns no order is told too, in the order of the stream', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell(undefined, 'storeReplaced', 'unmatched')
  startRun(stream, receiver)
  await eventually(() =>
    receiver.received.map(({ payload }) => payload.type),
  ).toEqual(['order.storeReplaced', 'order.unmatched'])
  const [{ payload } = { payload: { data: {} } }] = receiver.received
  expect(payload.data).not.toHaveProperty('orderId')
})

test('a run that never was to begin sends nothing', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted')
  const run = startRun(stream, receiver)
  await run.stop()
  expect(await progressOf(stream)).toBeUndefined()
})
