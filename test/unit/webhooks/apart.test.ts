import type { Observation } from 'countersign/orders'
import { expect, onTestFinished, test } from 'vitest'
import { runWebhooksWith } from '../../../src/webhooks/runWebhooks.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

test('a host that is never found takes one lookup, and other targets go on', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted', 'accepted')
  const stopping = new AbortController()
  const seen: Observation[] = []
  const asked: string[] = []
  const lookup = async (host: string): Promise<readonly string[]> => {
    asked.push(host)
    if (host === 'localhost') return ['127.0.0.1']
    return new Promise(() => undefined)
  }
  const secrets = [createSecret()]
  const running = runWebhooksWith(
    stream.orders,
    {
      store: stream.store,
      signal: stopping.signal,
      observe: (observation) => void seen.push(observation),
      targets: [
        { name: 'lost', url: 'https://lost.example', secrets },
        {
          name: 'good',
          url: receiver.url,
          ca: receiver.ca,
          secrets,
          privateHosts: ['localhost'],
        },
      ],
    },
    { ...quickTools, lookup, timeout: 2000 },
  )
  onTestFinished(async () => {
    stopping.abort()
    await running
  })
  await eventually(() => toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
  ])
  const failed = () =>
    seen.filter(({ attributes }) => attributes.reason === 'timedOut')
  await eventually(() => failed().length).toBe(2)
  expect(asked.filter((host) => host === 'lost.example')).toHaveLength(1)
})

test('events that cannot be read are asked for with growing pauses', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted')
  const asked: number[] = []
  let reads = 0
  const run = startRun(
    {
      store: stream.store,
      orders: {
        events: () => {
          reads++
          return Promise.reject(new Error('the disk is gone'))
        },
      },
    },
    receiver,
    {
      tools: {
        look: 1,
        pause: (failures) => {
          asked.push(failures)
          return failures < 4 ? 1 : 3_600_000
        },
      },
    },
  )
  await eventually(() => asked).toEqual([1, 2, 3, 4])
  // More looks come, and none of them reads in this hour.
  await stream.tell('order-1', 'accepted')
  await run.stop()
  expect(reads).toBe(4)
  expect(run.seen.map(({ name }) => name)).toEqual(
    Array(4).fill('outbox.failed'),
  )
})

test('one order that the store fails to read holds up no other one', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, { payload }, index) => {
    const isRefused = index === 0 && payload.data.orderId === 'bad'
    response.writeHead(isRefused ? 500 : 204).end()
  })
  await stream.tell('bad', 'drafted', 'accepted')
  await stream.tell('good', 'drafted')
  const events: typeof stream.orders.events = async (parameters) => {
    if (parameters?.orderId === 'bad') throw new Error('of this order only')
    return stream.orders.events(parameters)
  }
  const run = startRun({ ...stream, orders: { events } }, receiver)
  await eventually(() => run.seen).toContainEqual(
    expect.objectContaining({ name: 'outbox.failed' }),
  )
  await stream.tell('good', 'accepted')
  await eventually(() => toldOf(receiver)).toContain('good order.accepted 2')
})
