import { memoryStore, type PaymentStore } from 'countersign/store'
import type { WebhookTarget } from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { deliverEvents } from '../../../src/webhooks/deliverEvents.js'
import { parseTargets } from '../../../src/webhooks/targets/parseTargets.js'
import type { TargetRun } from '../../../src/webhooks/targets/types.js'
import { type LeaseHold, underLease } from '../../../src/webhooks/underLease.js'
import { startReceiver } from '../support/webhooksReceiver.js'
import {
  createSecret,
  eventually,
  quickTools,
  watchLeases,
} from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

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
    isCall: false,
    observe: () => undefined,
    tell: () => undefined,
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
