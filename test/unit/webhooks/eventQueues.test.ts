import type { OrderEvent } from 'countersign/orders'
import { expect, test } from 'vitest'
import {
  type EventQueues,
  eventQueues,
} from '../../../src/webhooks/eventQueues.js'
import { event } from '../support/webhooksEvent.js'

const queued = (orderId: string | undefined, cursor: bigint): OrderEvent => ({
  ...(orderId === undefined ? unmatched : { ...event, orderId }),
  cursor,
})

const unmatched: OrderEvent<'unmatched'> = {
  ...event,
  orderId: undefined,
  type: 'unmatched',
  data: { ...event.data, from: event.recipient },
}

const fulfil: OrderEvent<'fulfil'> = {
  ...event,
  type: 'fulfil',
  data: { fulfilmentId: 'b/0x1', finality: 'safe' },
}

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
  queues.add({ ...fulfil, orderId: 'b', cursor: 2n })
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
