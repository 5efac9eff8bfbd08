import {
  getWebhookLag,
  type WebhookLag,
  WebhookTargetError,
} from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { startReceiver } from '../support/webhooksReceiver.js'
import { eventually, progressOf, startRun } from '../support/webhooksRun.js'
import { createStream, type Stream } from '../support/webhooksStream.js'

/** When everything happens in these streams. */
const at = 1_760_000_000_123n

/** How far a target is where nothing is put aside. */
const reached = (
  lag: Pick<WebhookLag, 'cursor' | 'newest' | 'waitingSince'>,
): WebhookLag => ({ ...lag, putAside: [], putAsideCount: 0 })

const lagOf = ({ orders, store }: Stream, target = 'test') =>
  getWebhookLag(orders, { store, target })

test('a target is as far behind as what it was not told', async () => {
  const stream = createStream()
  const none = reached({ cursor: 0n, newest: 0n, waitingSince: undefined })
  expect(await lagOf(stream)).toEqual(none)
  await stream.tell('order-1', 'drafted', 'accepted')
  const all = reached({ cursor: 0n, newest: 2n, waitingSince: at })
  expect(await lagOf(stream)).toEqual(all)
  const run = startRun(stream, await startReceiver())
  await eventually(() => progressOf(stream)).toMatchObject({ read: '2' })
  await run.stop()
  const done = reached({ cursor: 2n, newest: 2n, waitingSince: undefined })
  expect(await lagOf(stream)).toEqual(done)
  await stream.tell('order-2', 'drafted')
  expect(await lagOf(stream)).toEqual({ ...done, newest: 3n, waitingSince: at })
  expect(await lagOf(stream, 'other')).toEqual({ ...all, newest: 3n })
})

test('an order that is refused shows since when, and not what came after it', async () => {
  const stream = createStream()
  const receiver = await startReceiver((response, { payload }) =>
    response.writeHead(payload.data.orderId === 'bad' ? 500 : 204).end(),
  )
  await stream.tell('good', 'drafted')
  await stream.tell('bad', 'drafted')
  await stream.tell('good', 'accepted')
  startRun(stream, receiver)
  await eventually(() => lagOf(stream)).toEqual({
    cursor: 1n,
    newest: 3n,
    waitingSince: at,
    putAside: [{ orderId: 'bad', type: 'drafted', cursor: 2n, since: at }],
    putAsideCount: 1,
    lastFailure: {
      at: expect.any(BigInt),
      reason: 'statusRefused',
      status: 500,
    },
  })
})

test('what a target leaves out is not waited for', async () => {
  const stream = createStream()
  await stream.tell('order-1', 'drafted', 'fulfil', 'finalityRaised')
  startRun(stream, await startReceiver(), { types: ['fulfil'] })
  await eventually(() => lagOf(stream)).toEqual(
    reached({ cursor: 3n, newest: 3n, waitingSince: undefined }),
  )
})

test('what is open of orders that are not these is not waited for here', async () => {
  const stream = createStream()
  await stream.tell('order-1', 'drafted', 'accepted', 'captured', 'fulfil')
  const put = (read: string, open: string[]) =>
    stream.store.write((it) => it.setValue('webhook:test', { read, open }))
  const orders: Stream['orders'] = {
    events: async (parameters) => {
      const { events, cursor } = await stream.orders.events({
        ...parameters,
        limit: 100,
      })
      const own = events.filter(({ cursor }) => cursor !== 2n)
      return { events: own.slice(0, parameters?.limit), cursor }
    },
  }
  const lag = () => lagOf({ ...stream, orders })
  const done = { cursor: 4n, newest: 4n, waitingSince: undefined }
  await put('4', ['2'])
  // What others have put aside is counted, and not named.
  expect(await lag()).toEqual({ ...done, putAside: [], putAsideCount: 1 })
  await put('4', ['2', '3'])
  expect(await lag()).toEqual({
    cursor: 2n,
    newest: 4n,
    waitingSince: at,
    putAside: [{ orderId: 'order-1', type: 'captured', cursor: 3n, since: at }],
    putAsideCount: 2,
  })
  await put('3', ['2'])
  expect(await lag()).toMatchObject({ ...done, cursor: 3n, waitingSince: at })
})

test.each([[''], ['a b'], [undefined], ['a'.repeat(65)]])(
  'no target is called %j',
  async (target) => {
    const { orders, store } = createStream()
    // What a merchant in plain JavaScript may give.
    const parameters = { store, target: target as string }
    await expect(getWebhookLag(orders, parameters)).rejects.toThrow(
      WebhookTargetError,
    )
  },
)
