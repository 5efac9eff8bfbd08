import { expect, test } from 'vitest'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

const gone = { name: 'webhook.gone', attributes: { target: 'test' } }

test('a receiver that is gone is told nothing more, and has lost nothing', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(index === 0 ? 204 : 410).end(),
  )
  await stream.tell('order-1', 'drafted', 'accepted')
  const run = startRun(stream, receiver)
  await eventually(() => run.seen).toContainEqual(gone)
  expect(run.seen.map(({ name, attributes }) => [name, attributes])).toEqual([
    [
      'webhook.delivered',
      {
        target: 'test',
        type: 'drafted',
        orderId: 'order-1',
        tries: 1,
        status: 204,
      },
    ],
    [
      'webhook.failed',
      {
        target: 'test',
        type: 'accepted',
        orderId: 'order-1',
        tries: 1,
        status: 410,
        reason: 'statusRefused',
      },
    ],
    ['webhook.gone', { target: 'test' }],
  ])
  await stream.tell('order-2', 'drafted')
  // Who asks meanwhile gets the lease: nobody delivers.
  const wanted = { key: 'webhook:test', owner: 'other', milliseconds: 60_000 }
  const lease = await stream.store.takeLease(wanted)
  if (!lease) throw new Error('the lease is held')
  await stream.store.releaseLease(lease)
  await run.stop()
  expect(receiver.received).toHaveLength(2)
  expect(await progressOf(stream)).toEqual({ cursor: '1', read: '1', open: [] })
  const moved = await startReceiver()
  startRun(stream, moved)
  await eventually(() => toldOf(moved).sort()).toEqual([
    'order-1 order.accepted 2',
    'order-2 order.drafted 1',
  ])
})

test('a receiver that is gone is told of once, however many tries were under way', async () => {
  const stream = createStream()
  const waiting: (() => void)[] = []
  const receiver = await startReceiver((response) => {
    waiting.push(() => response.writeHead(410).end())
    if (waiting.length === 8) for (const answer of waiting) answer()
  })
  for (let order = 0; order < 20; order++)
    await stream.tell(`order-${order}`, 'drafted')
  const run = startRun(stream, receiver)
  await eventually(() => run.seen.length).toBe(9)
  await run.stop()
  expect(run.seen.at(-1)).toEqual(gone)
  expect(run.seen.filter(({ name }) => name === 'webhook.gone')).toHaveLength(1)
  expect(receiver.received).toHaveLength(8)
  expect(await progressOf(stream)).toEqual({ cursor: '0', read: '0', open: [] })
})

test('what others took while one receiver went is on record', async () => {
  const stream = createStream()
  const held: { answer?: () => void } = {}
  const receiver = await startReceiver((response, { payload }) => {
    const answer = () => response.writeHead(204).end()
    if (payload.data.orderId === 'order-2') held.answer = answer
    else response.writeHead(410).end()
  })
  await stream.tell('order-1', 'drafted')
  await stream.tell('order-2', 'drafted')
  const run = startRun(stream, receiver)
  await eventually(() => held.answer).toBeDefined()
  await eventually(() => run.seen.map(({ name }) => name)).toEqual([
    'webhook.failed',
  ])
  held.answer?.()
  await eventually(() => run.seen).toContainEqual(gone)
  await run.stop()
  expect(await progressOf(stream)).toEqual({
    cursor: '0',
    read: '2',
    open: ['1'],
  })
})

test('each process finds out for itself, and other targets go on', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response) =>
    response.writeHead(410).end(),
  )
  const other = await startReceiver()
  await stream.tell('order-1', 'drafted')
  const secrets = [createSecret()]
  const runs = [1, 2].map(() => startRun(stream, receiver, { secrets }))
  startRun(stream, other, { name: 'other' })
  for (const { seen } of runs) await eventually(() => seen).toContainEqual(gone)
  expect(receiver.received).toHaveLength(2)
  await stream.tell('order-1', 'accepted')
  await eventually(() => other.received.length).toBe(2)
})
