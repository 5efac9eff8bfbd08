import type { OrderEvent } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { WebhookTarget } from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../src/core/parseRetryAfter.js'
import { deliverEvents } from '../../../src/webhooks/deliverEvents.js'
import {
  type EventQueues,
  eventQueues,
} from '../../../src/webhooks/eventQueues.js'
import { targetPace } from '../../../src/webhooks/targetPace.js'
import { parseTargets } from '../../../src/webhooks/targets/parseTargets.js'
import { retryPause } from '../../../src/webhooks/targets/retryPause.js'
import type { TargetRun } from '../../../src/webhooks/targets/types.js'
import { webhookMessage } from '../../../src/webhooks/targets/webhookMessage.js'
import { type LeaseHold, underLease } from '../../../src/webhooks/underLease.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
  watchLeases,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

const event: OrderEvent = {
  chainId: 8453,
  token: `0x${'a'.repeat(40)}`,
  recipient: `0x${'b'.repeat(40)}`,
  cursor: 12n,
  orderId: 'order-1',
  sequence: 3,
  type: 'captured',
  at: 1_760_000_000_123n,
  data: { value: '12500000' },
}

test.each([
  [1, 1000, 2000],
  [2, 2000, 4000],
  [3, 4000, 8000],
  [8, 128_000, 256_000],
  [9, 150_000, 300_000],
  [10, 150_000, 300_000],
  [5000, 150_000, 300_000],
])(
  'after %i failures the pause is from %i to %i ms',
  (failures, least, most) => {
    expect(retryPause(failures, undefined, () => 0)).toBe(least)
    expect(retryPause(failures, undefined, () => 1)).toBe(most)
    const drawn = retryPause(failures)
    expect(drawn).toBeGreaterThanOrEqual(least)
    expect(drawn).toBeLessThanOrEqual(most)
  },
)

test.each([
  [0, 1000],
  [500, 1000],
  [1500, 1500],
  [3_600_000, 3_600_000],
  [999_999_999_999, 3_600_000],
])('a receiver that asks for %i ms gets %i', (retryAfter, pause) => {
  expect(retryPause(1, retryAfter, () => 0)).toBe(pause)
})

test.each([
  ['120', 120_000],
  ['0', 0],
  ['9999999999', 9_999_999_999_000],
  ['Thu, 09 Oct 2025 08:53:30 GMT', 10_000],
  ['Thu, 09 Oct 2025 08:53:10 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  ['soon', undefined],
  ['Thu, someday GMT', undefined],
  ['99999999999', undefined],
  [undefined, undefined],
])('the header Retry-After: %s means %s ms', (header, milliseconds) => {
  const now = Date.parse('2025-10-09T08:53:20Z')
  expect(parseRetryAfter(header, now)).toBe(milliseconds)
})

test('the body holds the event, with what identifies it never overwritten', () => {
  const data = { value: '1', sequence: 99, orderId: 'other', at: 'never' }
  expect(JSON.parse(webhookMessage({ ...event, data }).body)).toEqual({
    type: 'order.captured',
    timestamp: '2025-10-09T08:53:20.123Z',
    data: {
      value: '1',
      orderId: 'order-1',
      sequence: 3,
      chainId: 8453,
      token: event.token,
      recipient: event.recipient,
      at: '1760000000123',
    },
  })
})

test('the id of an event is always the same', () => {
  expect(webhookMessage(event).id).toMatch(/^evt_[\da-f]{40}$/)
  expect(webhookMessage({ ...event }).id).toBe(webhookMessage(event).id)
})

test.each<[string, Partial<OrderEvent>]>([
  ['chain', { chainId: 1 }],
  ['token', { token: `0x${'c'.repeat(40)}` }],
  ['recipient', { recipient: `0x${'c'.repeat(40)}` }],
  ['place in the stream', { cursor: 13n }],
  ['order', { orderId: 'order-2' }],
  ['lack of an order', { orderId: undefined }],
  ['place in the order', { sequence: 4 }],
  ['type', { type: 'expired' }],
  ['time, as in a restored backup,', { at: 1_760_000_000_124n }],
])('an event with another %s has another id', (_, change) => {
  expect(webhookMessage({ ...event, ...change }).id).not.toBe(
    webhookMessage(event).id,
  )
})

const queued = (orderId: string | undefined, cursor: bigint): OrderEvent => ({
  ...event,
  orderId,
  cursor,
})

/** Takes a queue while nothing is known to be refused. */
const take = (queues: EventQueues, now: number) => {
  const refused = new Set<string>()
  const queue = queues.take({
    now,
    isFreshAllowed: true,
    isRetryAllowed: true,
    refused,
  })
  return queue && { queue, cursor: queue.events[0]?.cursor }
}

const finish = (queues: EventQueues, taken: ReturnType<typeof take>) => {
  if (!taken) return
  queues.drop(taken.queue)
  queues.release(taken.queue)
}

test('the next event of an order is ready when the one before is dropped', () => {
  const queues = eventQueues()
  queues.add(queued('a', 1n))
  queues.add(queued('a', 2n))
  const first = take(queues, 0)
  expect(first?.cursor).toBe(1n)
  expect(take(queues, 0)).toBeUndefined()
  // A queue is on record by its first event.
  expect(queues.cursors()).toEqual([1n])
  finish(queues, first)
  expect(take(queues, 0)?.cursor).toBe(2n)
})

test('an event that failed waits for its time, and for those that did not', () => {
  const queues = eventQueues()
  queues.add(queued('a', 1n))
  const failed = take(queues, 0)
  if (failed) queues.delay(failed.queue, 50)
  expect(queues.hasFresh(new Set())).toBe(false)
  expect(take(queues, 49)).toBeUndefined()
  expect(queues.nextDue()).toBe(50)
  queues.add(queued('b', 2n))
  expect(queues.hasFresh(new Set())).toBe(true)
  expect(take(queues, 50)?.cursor).toBe(2n)
  expect(take(queues, 50)?.cursor).toBe(1n)
})

test('orders take turns', () => {
  const queues = eventQueues()
  for (const cursor of [1n, 2n, 3n]) queues.add(queued('a', cursor))
  queues.add(queued('b', 4n))
  const taken: (bigint | undefined)[] = []
  for (let turn = 0; turn < 4; turn++) {
    const next = take(queues, 0)
    taken.push(next?.cursor)
    finish(queues, next)
  }
  expect(taken).toEqual([1n, 4n, 2n, 3n])
  expect(queues.cursors()).toEqual([])
  expect(queues.nextDue()).toBe(Number.POSITIVE_INFINITY)
})

test('no order may have the name of what concerns none', () => {
  const queues = eventQueues()
  queues.add(queued(undefined, 1n))
  queues.add(
    queued(
      `none ${event.chainId} ${event.token} ${event.recipient} ${event.type}`,
      2n,
    ),
  )
  expect(take(queues, 0)?.cursor).toBe(1n)
  expect(take(queues, 0)?.cursor).toBe(2n)
})

test('an order that failed keeps its first event in memory', () => {
  const queues = eventQueues()
  queues.add(queued('a', 1n))
  queues.add(queued('a', 2n))
  const failed = take(queues, 0)
  if (failed) queues.delay(failed.queue, 50)
  queues.add(queued('a', 3n))
  expect(failed?.queue.events.map(({ cursor }) => cursor)).toEqual([1n])
  // What follows is read again from there.
  expect(failed?.queue.after).toBe(1n)
})

test('of orders that failed, the one that waits longest is tried first', () => {
  const queues = eventQueues()
  for (const cursor of [1n, 2n]) queues.add(queued(`order-${cursor}`, cursor))
  for (const until of [9, 3]) {
    const failed = take(queues, 0)
    if (failed) queues.delay(failed.queue, until)
  }
  expect(take(queues, 10)?.cursor).toBe(2n)
})

test('a type that was just refused is tried after others', () => {
  const queues = eventQueues()
  queues.add(queued('a', 1n))
  queues.add({ ...queued('b', 2n), type: 'fulfil' })
  const refused = new Set(['captured'])
  const choice = {
    now: 0,
    isFreshAllowed: true,
    isRetryAllowed: true,
    refused,
  }
  expect(queues.take(choice)?.key).toBe('order b')
  expect(queues.hasFresh(refused)).toBe(false)
  expect(queues.take(choice)?.key).toBe('order a')
})

/** Each pause as long as its number of failures, in hours. */
const startPace = () => {
  const pace = targetPace(
    (failures, retryAfter = 0) => Math.max(failures * 3_600_000, retryAfter),
    8,
  )
  const fail = (tries: number, startedAt = performance.now()) =>
    pace.failed({ type: 'captured', tries, startedAt })
  const hours = () =>
    Math.round(Math.max(0, pace.until() - performance.now()) / 3_600_000)
  return { pace, fail, hours }
}

test('a target slows down with each further event that fails', () => {
  const { pace, fail, hours } = startPace()
  const seen = [[pace.width(), hours()]]
  for (let event = 0; event < 3; event++) {
    fail(1)
    seen.push([pace.width(), hours()])
  }
  expect(seen).toEqual([
    [8, 0],
    [1, 0],
    [1, 1],
    [1, 2],
  ])
  pace.succeeded()
  expect(pace.width()).toBe(8)
})

test('one event that fails again and again slows nobody down', () => {
  const { pace, fail, hours } = startPace()
  fail(1)
  for (let tries = 2; tries < 9; tries++) fail(tries)
  expect(hours()).toBe(0)
  pace.succeeded()
  fail(9)
  expect(pace.width()).toBe(8)
})

test.each([
  [400, 1],
  [422, 1],
  [500, 1],
  [429, 3],
  [502, 3],
  [503, 3],
  [undefined, 3],
])('four events refused with %s are a pause of %i hours', (status, pause) => {
  const { pace, hours } = startPace()
  for (let event = 0; event < 4; event++) {
    const startedAt = performance.now()
    pace.failed({ type: 'captured', tries: 1, startedAt, status })
  }
  expect(hours()).toBe(pause)
})

test('what was under way together counts once', () => {
  const { pace, fail, hours } = startPace()
  const startedAt = performance.now() - 1
  for (let order = 0; order < 8; order++) fail(1, startedAt)
  expect([pace.width(), hours()]).toEqual([1, 0])
})

test('a target that asks for a pause gets it, whatever fails', () => {
  const { pace, hours } = startPace()
  const startedAt = performance.now()
  pace.failed({
    type: 'captured',
    tries: 7,
    startedAt,
    retryAfter: 5 * 3_600_000,
  })
  expect(hours()).toBe(5)
})

async function createRun(
  store: PaymentStore,
  receiver: Pick<WebhookTarget, 'url' | 'ca'> = {
    url: 'https://receiver.example',
  },
): Promise<TargetRun> {
  const { url, ca } = receiver
  const [target] = await parseTargets([
    {
      name: 'test',
      url,
      ca,
      secrets: [createSecret()],
      privateHosts: ['localhost'],
    },
  ])
  if (!target) throw new Error('no target')
  return {
    store,
    target,
    orders: createStream(store).orders,
    owner: 'one',
    signal: new AbortController().signal,
    observe: () => undefined,
    tools: { ...quickTools, lease: 60_000 },
  }
}

const other = { key: 'webhook:test', owner: 'other', milliseconds: 60_000 }

test('a lease is held during the work, and free afterwards', async () => {
  const store = memoryStore()
  const during = async (hold: LeaseHold) => {
    expect(await store.takeLease(other)).toBeUndefined()
    expect([hold.lasts(50_000), hold.lasts(60_000)]).toEqual([true, false])
    expect(hold.over.aborted).toBe(false)
  }
  expect(await underLease(await createRun(store), during)).toBe(true)
  expect(await store.takeLease(other)).toBeDefined()
})

test('nothing is done under a lease that somebody else has', async () => {
  const store = memoryStore()
  await store.takeLease(other)
  const during = async () => expect.unreachable()
  expect(await underLease(await createRun(store), during)).toBe(false)
})

test('a lease is prolonged for as long as the work takes', async () => {
  const leased = watchLeases(memoryStore())
  let taken = 0
  const store: PaymentStore = {
    ...leased.store,
    takeLease: (wanted) => {
      taken++
      return leased.store.takeLease(wanted)
    },
  }
  const run = await createRun(store)
  await underLease(
    { ...run, tools: { ...run.tools, lease: 600 } },
    async () => {
      await eventually(() => taken).toBeGreaterThan(4)
    },
  )
})

test.each([
  ['somebody else took it', async () => undefined],
  [
    'it had run out, and may have been had by somebody else',
    async () => ({ key: other.key, owner: 'one', fence: 9n }),
  ],
])('the work is over when %s', async (_, next) => {
  const store = memoryStore()
  const run = await createRun({
    ...store,
    takeLease: async (wanted) => (isLost ? next() : store.takeLease(wanted)),
  })
  let isLost = false
  await underLease(
    { ...run, tools: { ...run.tools, lease: 600 } },
    async (hold) => {
      isLost = true
      await eventually(() => hold.over.aborted).toBe(true)
    },
  )
})

test('a store that does not answer for a while costs the lease only when it runs out', async () => {
  const store = memoryStore()
  let asked = 0
  const run = await createRun({
    ...store,
    takeLease: async (wanted) => {
      if (asked++ > 0) throw new Error('the disk is gone')
      return store.takeLease(wanted)
    },
  })
  await underLease(
    { ...run, tools: { ...run.tools, lease: 600 } },
    async (hold) => {
      await eventually(() => hold.over.aborted).toBe(true)
      expect(asked).toBeGreaterThan(2)
      expect(hold.lasts(0)).toBe(false)
    },
  )
})

test('the work is over when the run is to end', async () => {
  const run = await createRun(memoryStore())
  const stopping = new AbortController()
  const stopped = { ...run, signal: stopping.signal }
  await underLease(stopped, async ({ over }) => {
    stopping.abort()
    expect(over.aborted).toBe(true)
  })
})

test('no try begins while the lease could run out before its end', async () => {
  const stream = createStream()
  await stream.tell('order-1', 'drafted')
  const receiver = await startReceiver()
  const run = await createRun(stream.store, receiver)
  const over = new AbortController()
  const asked: number[] = []
  let isSure = false
  await underLease(run, async ({ lease }) => {
    const turn = deliverEvents(run, {
      lease,
      over: over.signal,
      lose: () => over.abort(),
      lasts: (milliseconds) => {
        asked.push(milliseconds)
        return isSure
      },
    })
    await eventually(() => asked.length).toBeGreaterThan(3)
    expect(receiver.received).toEqual([])
    isSure = true
    await eventually(() => receiver.received.length).toBe(1)
    over.abort()
    await turn
  })
  expect(new Set(asked)).toEqual(new Set([run.tools.timeout]))
})
