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

async function scheduleAt(seconds: number): Promise<string[]> {
  const seen: Observation[] = []
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
    observe: (observation) => seen.push(observation),
  })
  const report = await createSubscriptions({ orders }).schedule()
  expect(report).toEqual({ charged: 0 })
  return seen
    .filter(({ name }) => name === 'schedule.failed')
    .map(({ attributes }) => String(attributes.error))
}

test('a node whose clock is far from ours charges nothing', async () => {
  expect(await scheduleAt(3600)).toEqual(['ClockSkewError'])
  expect(await scheduleAt(-3600)).toEqual(['ClockSkewError'])
  expect(await scheduleAt(30)).toEqual([])
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
