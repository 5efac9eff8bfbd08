import { replayWebhooks } from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { hashText } from '../../../src/core/hashText.js'
import { runUntilIdle } from '../../../src/core/untilIdle.js'
import { wait } from '../../../src/core/wait.js'
import { runWebhooksWith } from '../../../src/webhooks/runWebhooks.js'
import { type Receiver, startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream, type Stream } from '../support/webhooksStream.js'

const minute = 60_000
const hour = 60 * minute

const tools = {
  ...quickTools,
  pause: (failures: number, retryAfter = 0) =>
    Math.max(failures * minute, retryAfter),
}

/** Delivers until nothing is due. Returns the milliseconds until it is. */
async function deliverDue(
  { orders, store }: Pick<Stream, 'orders' | 'store'>,
  { url, ca }: Receiver,
  time = hour,
): Promise<number> {
  const target = {
    name: 'test',
    url,
    ca,
    secrets: [createSecret()],
    privateHosts: ['localhost'],
  }
  const deliver = ({ signal }: { signal: AbortSignal }) =>
    runWebhooksWith(orders, { store, targets: [target], signal }, tools)
  const until = performance.now() + time
  return (await runUntilIdle([deliver], { until })) - performance.now()
}

const pausesOf = ({ store }: Stream) =>
  store.read((tables) => tables.getValue('webhook:test pauses'))

/** Saves pauses as if calls had ended with them. */
const savePauses = ({ store }: Stream, { url }: Receiver, pauses: object) =>
  store.write((tables) =>
    tables.setValue('webhook:test pauses', {
      url: hashText(new URL(url).href),
      ...pauses,
    }),
  )

/** As if this many milliseconds passed: all pauses end earlier. */
async function pass(stream: Stream, time: number): Promise<void> {
  const saved = await pausesOf(stream)
  if (!Array.isArray(saved?.events)) throw new Error('no pauses')
  const events = saved.events.map(([cursor, failures, until]) => [
    cursor,
    failures,
    until - time,
  ])
  const until = Number(saved.until) - time
  await stream.store.write((tables) =>
    tables.setValue('webhook:test pauses', { ...saved, until, events }),
  )
}

const refuse = (status: number) =>
  startReceiver((response) => response.writeHead(status).end())

test('a run does not ask again before the pause that the run before began', async () => {
  const stream = createStream()
  const receiver = await refuse(500)
  await stream.tell('order-1', 'drafted')
  for (const tries of [1, 2, 3, 4]) {
    const rest = await deliverDue(stream, receiver)
    expect(receiver.received).toHaveLength(tries)
    expect(rest / minute).toBeGreaterThan(tries - 1)
    expect(rest / minute).toBeLessThanOrEqual(tries)
    expect(await deliverDue(stream, receiver)).toBeLessThanOrEqual(rest)
    expect(receiver.received).toHaveLength(tries)
    await pass(stream, tries * minute)
  }
})

test('a target that refuses all is asked less and less, whatever is new', async () => {
  const stream = createStream()
  const receiver = await refuse(503)
  for (const order of [1, 2, 3]) {
    await stream.tell(`order-${order}`, 'drafted')
    await deliverDue(stream, receiver)
  }
  // The second event that failed began a pause for all.
  expect(receiver.received).toHaveLength(2)
  await stream.tell('order-4', 'drafted')
  expect((await deliverDue(stream, receiver)) / minute).toBeLessThanOrEqual(1)
  expect(receiver.received).toHaveLength(2)
})

test('an event that is refused delays no other', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, { payload }) =>
    response.writeHead(payload.data.orderId === 'order-1' ? 400 : 204).end(),
  )
  await stream.tell('order-1', 'drafted')
  for (const order of ['order-2', 'order-3', 'order-4']) {
    await deliverDue(stream, receiver)
    await stream.tell(order, 'drafted')
  }
  await deliverDue(stream, receiver)
  expect(toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-2 order.drafted 1',
    'order-3 order.drafted 1',
    'order-4 order.drafted 1',
  ])
})

test('a success ends the pauses', async () => {
  const stream = createStream()
  let status = 500
  const receiver = await startReceiver((response) =>
    response.writeHead(status).end(),
  )
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  await stream.tell('order-2', 'drafted')
  await deliverDue(stream, receiver)
  expect(await pausesOf(stream)).toMatchObject({ failures: 2 })
  status = 204
  await pass(stream, minute)
  expect(await deliverDue(stream, receiver)).toBe(Number.POSITIVE_INFINITY)
  expect(receiver.received).toHaveLength(4)
  expect(await pausesOf(stream)).toMatchObject({ failures: 0, events: [] })
})

test('a receiver that answered 410 is asked again after an hour', async () => {
  const stream = createStream()
  const receiver = await refuse(410)
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  await stream.tell('order-2', 'drafted')
  const rest = await deliverDue(stream, receiver)
  expect(rest).toBeGreaterThan(hour - minute)
  expect(rest).toBeLessThanOrEqual(hour)
  expect(receiver.received).toHaveLength(1)
  await pass(stream, hour)
  await deliverDue(stream, receiver)
  expect(receiver.received.length).toBeGreaterThan(1)
})

test('a corrected URL is asked at once, also after 410', async () => {
  const stream = createStream()
  await stream.tell('order-1', 'drafted')
  const gone = await refuse(410)
  await deliverDue(stream, gone)
  const receiver = await startReceiver((response) => response.end())
  await deliverDue(stream, receiver)
  expect(toldOf(receiver)).toEqual(['order-1 order.drafted 1'])
  expect(JSON.stringify(await pausesOf(stream))).not.toContain('localhost')
})

test('a requested replay, or a run that stays, asks at once', async () => {
  const stream = createStream()
  const { orders, store } = stream
  let status = 410
  const receiver = await startReceiver((response) =>
    response.writeHead(status).end(),
  )
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  await deliverDue(stream, receiver)
  expect(receiver.received).toHaveLength(1)
  await replayWebhooks(orders, { store, target: 'test', after: 0n })
  await deliverDue(stream, receiver)
  expect(receiver.received).toHaveLength(2)
  status = 204
  startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(3)
})

test.each([
  {},
  { failures: 'two', until: 'soon', events: 'none' },
  { events: [1, null, ['x'], ['1', 'often', {}]] },
  { until: Number.NaN, events: [['1']] },
])('pauses that cannot be read delay nothing: %j', async (value) => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted')
  await savePauses(stream, receiver, value)
  await deliverDue(stream, receiver)
  expect(receiver.received).toHaveLength(1)
})

test('after a clock that was ahead, a pause lasts an hour at most', async () => {
  const stream = createStream()
  const receiver = await refuse(500)
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  await pass(stream, -1000 * hour)
  const rest = await deliverDue(stream, receiver)
  expect(rest).toBeGreaterThan(hour - minute)
  expect(rest).toBeLessThanOrEqual(hour)
})

/** Ends the pause of the whole target, but not those of its events. */
async function endTargetPause({ store }: Stream): Promise<void> {
  await store.write(async (tables) => {
    const saved = await tables.getValue('webhook:test pauses')
    await tables.setValue('webhook:test pauses', { ...saved, until: 0 })
  })
}

/** Ends all pauses. The counts of failures stay. */
async function endPauses({ store }: Stream): Promise<void> {
  await store.write(async (tables) => {
    const saved = await tables.getValue('webhook:test pauses')
    const events = Array.isArray(saved?.events) ? saved.events : []
    await tables.setValue('webhook:test pauses', {
      ...saved,
      until: 0,
      events: events.map(([cursor, failures]) => [cursor, failures, 0]),
    })
  })
}

const refuseBad = () =>
  startReceiver((response, { payload }) =>
    response
      .writeHead(String(payload.data.orderId).startsWith('bad') ? 400 : 204)
      .end(),
  )

test('more refused orders than pauses are saved for do not lock out the others', async () => {
  const stream = createStream()
  const receiver = await refuseBad()
  for (let order = 1; order <= 101; order++)
    await stream.tell(`bad-${order}`, 'drafted')
  await stream.tell('good', 'drafted')
  const until = Date.now() + hour
  const events = Array.from({ length: 100 }, (_, at) => [`${at + 1}`, 3, until])
  await savePauses(stream, receiver, { failures: 2, until: 0, events })
  for (let calls = 1; calls <= 5; calls++) {
    await deliverDue(stream, receiver)
    await endTargetPause(stream)
  }
  expect(toldOf(receiver)).toContain('good order.drafted 1')
})

test('retries that are due in each call do not lock out new orders', async () => {
  const stream = createStream()
  const receiver = await refuseBad()
  // These two stay open, because the third was delivered.
  for (const order of ['bad-1', 'bad-2', 'good-1'])
    await stream.tell(order, 'drafted')
  await deliverDue(stream, receiver)
  await stream.tell('bad-3', 'drafted')
  await deliverDue(stream, receiver)
  await stream.tell('bad-4', 'drafted')
  await deliverDue(stream, receiver)
  expect(await pausesOf(stream)).toMatchObject({ failures: 2 })
  await stream.tell('good-2', 'drafted')
  // A receiver that answers faster than the database.
  const events: Stream['orders']['events'] = async (parameters) => {
    await wait(100)
    return stream.orders.events(parameters)
  }
  for (let calls = 1; calls <= 5; calls++) {
    await endPauses(stream)
    await deliverDue({ ...stream, orders: { events } }, receiver)
  }
  expect(toldOf(receiver)).toContain('good-2 order.drafted 1')
})

test('a 410 for an event without an order ends the target for an hour, too', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response) =>
    response.writeHead(410).end(),
  )
  await stream.tell(undefined, 'drafted')
  await deliverDue(stream, receiver)
  await stream.tell(undefined, 'captured')
  await deliverDue(stream, receiver)
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  expect(receiver.received).toHaveLength(1)
})

test('pauses end when a run that stays has delivered', async () => {
  const stream = createStream()
  let status = 410
  const receiver = await startReceiver((response) =>
    response.writeHead(status).end(),
  )
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  status = 204
  const run = startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(2)
  await run.stop()
  await stream.tell('order-2', 'drafted')
  await deliverDue(stream, receiver)
  expect(toldOf(receiver)).toContain('order-2 order.drafted 1')
})

test('a call that cannot load the events keeps their pauses', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response) =>
    response.writeHead(500).end(),
  )
  await stream.tell('order-1', 'drafted')
  await deliverDue(stream, receiver)
  const events = () => Promise.reject(new Error('no database'))
  await deliverDue({ ...stream, orders: { events } }, receiver, 100)
  await deliverDue(stream, receiver)
  expect(receiver.received).toHaveLength(1)
})
