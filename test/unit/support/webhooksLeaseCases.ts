import type { PaymentStore } from 'countersign/store'
import { expect } from 'vitest'
import { checkTold, tellOrders } from './webhooksChecks.js'
import { startReceiver } from './webhooksReceiver.js'
import {
  createSecret,
  eventually,
  progressOf,
  startRun,
  watchLeases,
} from './webhooksRun.js'
import { createStream } from './webhooksStream.js'

export type LeaseCase = {
  name: string
  /** @param open connects to one and the same database, which is empty at first. */
  run(open: () => PaymentStore): Promise<void>
}

/** What holds of several processes that deliver to one target. */
export const leaseCases: readonly LeaseCase[] = [
  { name: 'two runs tell each event once', run: tellOnce },
  { name: 'only the run that has the lease delivers', run: deliverAlone },
  { name: 'another run goes on where one was stopped', run: goOn },
  {
    name: 'a crash between delivery and record tells the same event again',
    run: crash,
  },
  {
    name: 'whoever lost the lease writes nothing and tells nothing more',
    run: loseLease,
  },
]

async function tellOnce(open: () => PaymentStore): Promise<void> {
  const stream = createStream(open())
  await stream.store.open()
  const receiver = await startReceiver()
  await tellOrders(stream, 10)
  const secrets = [createSecret()]
  const runs = [stream, createStream(open())].map((it) =>
    startRun(it, receiver, { secrets }),
  )
  await eventually(() => receiver.received.length).toBe(30)
  await tellOrders(stream, 10)
  await eventually(() => receiver.received.length).toBe(60)
  await Promise.all(runs.map(({ stop }) => stop()))
  expect(checkTold(receiver)).toEqual(Array(60).fill(1))
  expect(await progressOf(stream)).toEqual({
    cursor: '60',
    read: '60',
    open: [],
  })
}

async function deliverAlone(open: () => PaymentStore): Promise<void> {
  const stream = createStream(open())
  await stream.store.open()
  const waiting: (() => void)[] = []
  const receiver = await startReceiver((response) => {
    waiting.push(() => response.writeHead(204).end())
  })
  const second = countLeases(open())
  const start = (store: PaymentStore, name: string) =>
    startRun(createStream(store), receiver, {
      url: receiver.url.replace(/key=.*/, `by=${name}`),
      tools: { lease: 60_000 },
    })
  await tellOrders(stream, 3)
  const one = start(open(), 'one')
  await eventually(() => waiting.length).toBe(3)
  start(second.store, 'two')
  for (let left = 9; left > 0; left--) {
    // Each time the other one has looked for the lease meanwhile.
    const asked = second.asked
    await eventually(() => second.asked).toBeGreaterThan(asked + 1)
    await eventually(() => waiting.length).toBe(Math.min(3, left))
    waiting.shift()?.()
  }
  await eventually(() => progressOf(stream)).toMatchObject({ read: '9' })
  const paths = receiver.received.map(({ path }) => path)
  expect(paths).toEqual(Array(9).fill('/hooks?by=one'))
  await one.stop()
  await stream.tell('order-1', 'finalityRaised')
  await eventually(() => waiting.length).toBe(1)
  waiting.shift()?.()
  await eventually(() => progressOf(stream)).toMatchObject({ read: '10' })
  expect(receiver.received.at(-1)?.path).toBe('/hooks?by=two')
  expect(checkTold(receiver)).toEqual(Array(10).fill(1))
}

/** A store that counts how often a lease was asked for. */
function countLeases(store: PaymentStore): {
  store: PaymentStore
  asked: number
} {
  const counted = {
    asked: 0,
    store: {
      ...store,
      takeLease: async (wanted: Parameters<PaymentStore['takeLease']>[0]) => {
        counted.asked++
        return store.takeLease(wanted)
      },
    },
  }
  return counted
}

async function goOn(open: () => PaymentStore): Promise<void> {
  const stream = createStream(open())
  await stream.store.open()
  const receiver = await startReceiver()
  const tools = { lease: 60_000 }
  const first = startRun(stream, receiver, { tools })
  await stream.tell('order-1', 'drafted')
  await eventually(() => receiver.received.length).toBe(1)
  const second = startRun(createStream(open()), receiver, { tools })
  await first.stop()
  await stream.tell('order-1', 'accepted')
  await eventually(() => receiver.received.length).toBe(2)
  await eventually(() => second.seen.length).toBe(1)
}

async function crash(open: () => PaymentStore): Promise<void> {
  const stream = createStream(open())
  await stream.store.open()
  const receiver = await startReceiver()
  await stream.tell('order-1', 'drafted', 'accepted')
  const leased = watchLeases(open())
  let isDead = false
  const store: PaymentStore = {
    ...leased.store,
    write: async (work, options) => {
      if (isDead) throw new Error('the process is gone')
      return leased.store.write(work, options)
    },
  }
  const last = await startReceiver((response) => {
    isDead = true
    response.writeHead(204).end()
  })
  const dying = startRun({ ...stream, store }, last)
  await eventually(() => dying.seen.length).toBeGreaterThan(1)
  await leased.expire()
  const run = startRun(stream, receiver)
  await eventually(() => receiver.received.length).toBe(2)
  await run.stop()
  const [told] = last.received
  const [again] = receiver.received
  expect(last.received).toHaveLength(1)
  expect(again?.headers['webhook-id']).toBe(told?.headers['webhook-id'])
  expect(again?.text).toBe(told?.text)
}

async function loseLease(open: () => PaymentStore): Promise<void> {
  const stream = createStream(open())
  await stream.store.open()
  const held: { answer?: () => void } = {}
  const slow = await startReceiver((response) => {
    held.answer = () => response.writeHead(204).end()
  })
  await stream.tell('order-1', 'drafted')
  const leased = watchLeases(open())
  const late = startRun({ ...stream, store: leased.store }, slow)
  await eventually(() => slow.received.length).toBe(1)
  await leased.expire()
  const receiver = await startReceiver()
  const run = startRun(stream, receiver)
  await eventually(() => progressOf(stream)).toMatchObject({ read: '1' })
  held.answer?.()
  await eventually(() => late.seen.map(({ name }) => name)).toEqual([
    ...['webhook.delivered', 'outbox.failed'],
  ])
  expect(late.seen[1]?.attributes.error).toBe('LeaseLostError')
  await stream.tell('order-1', 'accepted')
  await eventually(() => progressOf(stream)).toMatchObject({ read: '2' })
  await late.stop()
  await run.stop()
  expect(slow.received).toHaveLength(1)
  expect(receiver.received).toHaveLength(2)
}
