import { createOrders, type Observation } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import {
  createSubscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import { createClient, custom } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'

/** A node of Base whose newest block is some seconds from the wall clock. */
const nodeAt = (seconds: number) =>
  custom({
    request: async () => ({
      number: '0x10',
      hash: `0x${'ab'.repeat(32)}`,
      timestamp: `0x${(Math.floor(Date.now() / 1000) + seconds).toString(16)}`,
      baseFeePerGas: '0x1',
    }),
  })

/** Subscriptions over such a node, and the names of reported failures. */
function openAt(seconds: number) {
  const failures: string[] = []
  const observe = ({ name, attributes }: Observation) => {
    if (name === 'schedule.failed') failures.push(String(attributes.error))
  }
  const transport = nodeAt(seconds)
  const account = privateKeyToAccount(generatePrivateKey())
  const orders = createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [
      {
        client: createClient({ chain: base, transport }),
        token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      },
    ],
    wallets: [createClient({ account, chain: base, transport })],
    kinds: [spendPermissions()],
    policy: { pollingInterval: 1 },
    observe,
  })
  return { subscriptions: createSubscriptions({ orders }), failures }
}

async function scheduleAt(seconds: number): Promise<string[]> {
  const { subscriptions, failures } = openAt(seconds)
  expect(await subscriptions.chargeDue()).toEqual({ charged: 0 })
  return failures
}

test('a node whose clock is far from ours charges nothing', async () => {
  expect(await scheduleAt(3600)).toEqual(['ClockSkewError'])
  expect(await scheduleAt(-3600)).toEqual(['ClockSkewError'])
  expect(await scheduleAt(30)).toEqual([])
})

test('a run whose clock is wrong looks again after growing pauses', async () => {
  const { subscriptions, failures } = openAt(3600)
  const stop = new AbortController()
  const start = performance.now()
  const ended = subscriptions.run({ signal: stop.signal })
  await expect.poll(() => failures.length).toBeGreaterThan(2)
  const elapsed = performance.now() - start
  stop.abort()
  await ended
  // Pauses of 100, 200, 400 ms and so on.
  expect(elapsed).toBeGreaterThanOrEqual(295)
  expect(new Set(failures)).toEqual(new Set(['ClockSkewError']))
})

test('orders without the kind of charges are refused', () => {
  const transport = nodeAt(0)
  const account = privateKeyToAccount(generatePrivateKey())
  const orders = createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [
      {
        client: createClient({ chain: base, transport }),
        token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      },
    ],
    wallets: [createClient({ account, chain: base, transport })],
  })
  expect(() => createSubscriptions({ orders })).toThrow(
    'Orders have no kind for charges: pass kinds: [spendPermissions()] to createOrders.',
  )
})
