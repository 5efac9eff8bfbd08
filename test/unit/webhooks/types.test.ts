import type { OrderEventType } from 'countersign/orders'
import { expect, test } from 'vitest'
import { parseTargets } from '../../../src/webhooks/targets/parseTargets.js'
import { eventTypes } from '../support/eventTypes.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

test('every event there is may be asked for by its name', async () => {
  const target = {
    name: 'test',
    url: 'https://receiver.example',
    secrets: [createSecret()],
    types: eventTypes,
  }
  const [checked] = await parseTargets([target])
  expect(checked?.types).toEqual(eventTypes)
})

test('a target is told what it asks for, and passes the rest', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted', 'accepted', 'captured', 'fulfil')
  await stream.tell(undefined, 'unmatched')
  await stream.tell('order-2', 'drafted', 'fulfil', 'finalityRaised')
  const run = startRun(stream, receiver, { types: ['captured', 'fulfil'] })
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '8',
    read: '8',
    open: [],
  })
  await run.stop()
  expect(toldOf(receiver).sort()).toEqual([
    'order-1 order.captured 3',
    'order-1 order.fulfil 4',
    'order-2 order.fulfil 2',
  ])
  const skipped = run.seen.filter(({ name }) => name === 'webhook.skipped')
  expect(skipped.map(({ attributes }) => attributes)).toEqual([
    { target: 'test', type: 'drafted', orderId: 'order-1' },
    { target: 'test', type: 'accepted', orderId: 'order-1' },
    { target: 'test', type: 'unmatched' },
    { target: 'test', type: 'drafted', orderId: 'order-2' },
    { target: 'test', type: 'finalityRaised', orderId: 'order-2' },
  ])
})

test('what is asked for and fails stays open, whatever is passed behind it', async () => {
  const stream = createStream()
  const state = { refuses: true }
  const receiver = await startReceiver((response) =>
    response.writeHead(state.refuses ? 500 : 204).end(),
  )
  const types = ['fulfil'] as const
  await stream.tell('order-1', 'drafted', 'fulfil', 'finalityRaised')
  const run = startRun(stream, receiver, { types })
  const stuck = { cursor: '1', read: '3', open: ['2'] }
  await eventually(() => progressOf(stream)).toEqual(stuck)
  await run.stop()
  expect(await progressOf(stream)).toEqual(stuck)
  state.refuses = false
  const again = startRun(stream, receiver, { types })
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '3',
    read: '3',
    open: [],
  })
  await again.stop()
  expect(new Set(toldOf(receiver))).toEqual(new Set(['order-1 order.fulfil 2']))
})

test('a list that grows is told of what comes, and one that shrinks leaves nothing open', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, { payload }) =>
    response.writeHead(payload.type === 'order.captured' ? 422 : 204).end(),
  )
  await stream.tell('order-1', 'captured', 'fulfil')
  const first = startRun(stream, receiver, {
    types: ['captured', 'finalityRaised'],
  })
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '0',
    read: '2',
    open: ['1'],
  })
  await first.stop()
  const shrunk = startRun(stream, receiver, { types: ['finalityRaised'] })
  await eventually(() => progressOf(stream)).toEqual({
    cursor: '2',
    read: '2',
    open: [],
  })
  await shrunk.stop()
  expect(shrunk.seen).toEqual([
    {
      name: 'webhook.skipped',
      attributes: { target: 'test', type: 'captured', orderId: 'order-1' },
    },
  ])
  receiver.received.length = 0
  await stream.tell('order-2', 'fulfil')
  startRun(stream, receiver, { types: ['finalityRaised', 'fulfil'] })
  await eventually(() => toldOf(receiver)).toEqual(['order-2 order.fulfil 1'])
})

test('a target that asks for little of much comes to its end, and stops in the middle', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  const types = ['fulfil'] as const
  const many = Array<OrderEventType>(250).fill('finalityRaised')
  for (let order = 0; order < 6; order++)
    await stream.tell(`order-${order}`, ...many)
  await stream.tell('order-1', 'fulfil')
  const stopping = { at: 3, reads: 0, stop: () => {} }
  const events: typeof stream.orders.events = async (parameters) => {
    stopping.reads++
    if (stopping.reads === stopping.at) stopping.stop()
    return stream.orders.events(parameters)
  }
  const first = startRun({ ...stream, orders: { events } }, receiver, { types })
  stopping.stop = () => void first.stop()
  await eventually(() => stopping.reads).toBe(3)
  await first.stop()
  expect(stopping.reads).toBe(3)
  expect(await progressOf(stream)).toMatchObject({ cursor: '300' })
  startRun(stream, receiver, { types })
  await eventually(() => progressOf(stream)).toMatchObject({ cursor: '1501' })
  expect(toldOf(receiver)).toEqual(['order-1 order.fulfil 251'])
})
