import { InvalidFieldError } from 'countersign'
import {
  getWebhookLag,
  replayWebhooks,
  WebhookTargetError,
} from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  eventually,
  progressOf,
  startRun,
  toldOf,
} from '../support/webhooksRun.js'
import { createStream, type Stream } from '../support/webhooksStream.js'

/** When everything happens in these streams. */
const at = 1_760_000_000_123n

/** A request is soon seen. */
const tools = { replay: 20 }

type Request = { after: bigint } | { since: bigint }
const replay = ({ orders, store }: Stream, request: Request) =>
  replayWebhooks(orders, { store, target: 'test', ...request })

const idsOf = ({ received }: Awaited<ReturnType<typeof startReceiver>>) =>
  received.map(({ headers }) => headers['webhook-id'])

test('a running delivery sends the events after a cursor again, with the same ids', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted', 'accepted', 'captured')
  const run = startRun(stream, receiver, { tools })
  await eventually(() => progressOf(stream)).toMatchObject({ read: '3' })
  await replay(stream, { after: 1n })
  await eventually(() => toldOf(receiver)).toEqual([
    'order-1 order.drafted 1',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
    'order-1 order.accepted 2',
    'order-1 order.captured 3',
  ])
  const ids = idsOf(receiver)
  expect(ids.slice(3)).toEqual(ids.slice(1, 3))
  await stream.tell('order-1', 'fulfil')
  await eventually(() => toldOf(receiver).at(-1)).toBe('order-1 order.fulfil 4')
  await eventually(() => progressOf(stream)).toMatchObject({ read: '4' })
  expect(receiver.received).toHaveLength(6)
  expect(new Set(run.seen.map(({ name }) => name))).toEqual(
    new Set(['webhook.delivered']),
  )
})

test('a replay that was requested while nobody delivers begins at the next start', async () => {
  const stream = createStream()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted')
  const run = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toMatchObject({ read: '1' })
  await run.stop()
  // The one that begins earlier counts.
  await replay(stream, { since: at })
  await replay(stream, { since: at + 1n })
  startRun(stream, receiver)
  await eventually(() => toldOf(receiver)).toHaveLength(2)
  await eventually(() => progressOf(stream)).toMatchObject({ read: '1' })
})

test('a replay leaves out nothing that was not delivered', async () => {
  const stream = createStream()
  const put = (read: string, open: string[]) =>
    stream.store.write((it) => it.setValue('webhook:test', { read, open }))
  for (const orderId of ['a', 'b', 'c', 'd'])
    await stream.tell(orderId, 'drafted')
  await put('3', ['1', '2'])
  // Also not what comes after all that was delivered.
  for (const after of [2n, 100n]) await replay(stream, { after })
  const receiver = await startReceiver((response) =>
    response.writeHead(500).end(),
  )
  const run = startRun(stream, receiver)
  await eventually(() => new Set(toldOf(receiver)).size).toBe(4)
  await run.stop()
  await put('3', [])
  await replay(stream, { after: 100n })
  const other = await startReceiver()
  startRun(stream, other)
  await eventually(() => toldOf(other)).toEqual(['d order.drafted 1'])
})

test('a time between events chooses those after it', async () => {
  const stream = createStream()
  const times = [10n, 20n, 20n, 30n]
  for (const orderId of ['a', 'b', 'c', 'd'])
    await stream.tell(orderId, 'drafted')
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      const { events, cursor } = await stream.orders.events(parameters)
      const timed = events.map((event) => ({
        ...event,
        at: times[Number(event.cursor) - 1] ?? 0n,
      }))
      return { events: timed as typeof events, cursor }
    },
  }
  const askedOf = async (since: bigint) => {
    await stream.store.write(async (it) => {
      await it.setValue('webhook:test', { read: '4', open: [] })
      await it.setValue('webhook:test replay', {})
    })
    await replay({ ...stream, orders }, { since })
    return progressOf(stream, 'test replay')
  }
  expect(await askedOf(0n)).toEqual({ after: '0' })
  expect(await askedOf(11n)).toEqual({ after: '1' })
  expect(await askedOf(20n)).toEqual({ after: '1' })
  expect(await askedOf(21n)).toEqual({ after: '3' })
  expect(await askedOf(31n)).toEqual({ after: '4' })
})

test.each([
  {},
  { after: 1n, since: 1n },
  { after: -1n },
  { after: '1' },
  { since: 1 },
])('a replay of %o is refused', async (given) => {
  const { orders, store } = createStream()
  // What a merchant in plain JavaScript may give.
  const parameters = { store, target: 'test', ...(given as Request) }
  await expect(replayWebhooks(orders, parameters)).rejects.toThrow(
    InvalidFieldError,
  )
})

test('a target that nobody ever served is not replayed', async () => {
  const stream = createStream()
  await expect(replay(stream, { after: 0n })).rejects.toThrow(
    WebhookTargetError,
  )
})

test('the last failure is shown with its status, also after a success', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, _, index) =>
    response.writeHead(index === 0 ? 503 : 204).end(),
  )
  await stream.tell('order-1', 'drafted')
  startRun(stream, receiver)
  const lag = () =>
    getWebhookLag(stream.orders, { store: stream.store, target: 'test' })
  await eventually(lag).toMatchObject({
    cursor: 1n,
    waitingSince: undefined,
    lastFailure: { reason: 'statusRefused', status: 503 },
  })
  const { lastFailure } = await lag()
  expect(Number(lastFailure?.at)).toBeGreaterThan(Date.now() - 600_000)
})
