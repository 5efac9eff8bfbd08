import { createOrders, type Observation, type Orders } from 'countersign/orders'
import {
  memoryStore,
  type PaymentStore,
  StoreError,
  sealer,
} from 'countersign/store'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => vi.useRealTimers())

/** A node that is away. */
const client = createClient({
  chain: base,
  account: privateKeyToAccount(`0x${'11'.repeat(32)}`),
  transport: custom(
    {
      request: async () => {
        throw new Error('away')
      },
    },
    { retryCount: 0 },
  ),
})

type Opened = {
  orders: Orders
  /** How often the store was asked to write. */
  writes: () => number
  told: Observation[]
}

/** Orders on a store whose writes do what the test says. */
function open(
  fault: () => Promise<unknown> = async () => undefined,
  changes: Partial<PaymentStore> = {},
): Opened {
  const memory = memoryStore({ volatile: true })
  let count = 0
  const told: Observation[] = []
  const write: PaymentStore['write'] = async (work, options) => {
    count++
    await fault()
    return memory.write(work, options)
  }
  const orders = createOrders({
    store: { ...memory, write, ...changes },
    seal: sealer({ keys: { first: new Uint8Array(32) }, current: 'first' }),
    tokens: [{ client, token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    wallets: [client],
    observe: (observation) => void told.push(observation),
  })
  onTestFinished(() => orders.close())
  return { orders, writes: () => count, told }
}

const isOk = { ok: true }
const away = () => Promise.reject(new StoreError('is away', true))

test('a process whose node is away, or whose shop is suspended, is ready', async () => {
  const { orders } = open()
  await orders.suspend()
  expect(await orders.readiness()).toEqual(isOk)
  expect(await orders.liveness()).toEqual(isOk)
})

test('a flood of probes looks at the store once a second', async () => {
  const { orders, writes } = open()
  await orders.readiness()
  vi.advanceTimersByTime(1_000)
  const before = writes()
  const flood = async () => {
    const all = Array.from({ length: 200 }, () => [
      orders.readiness(),
      orders.liveness(),
    ])
    await Promise.all(all.flat())
  }
  await flood()
  vi.advanceTimersByTime(999)
  await flood()
  expect(writes()).toBe(before + 1)
  vi.advanceTimersByTime(1)
  await flood()
  expect(writes()).toBe(before + 2)
})

test('a store that fails makes a process unready, until it is back', async () => {
  let fault = away
  const { orders, told } = open(() => fault())
  expect(await orders.readiness()).toEqual({
    ok: false,
    reason: 'storeUnavailable',
  })
  expect(await orders.liveness()).toEqual(isOk)
  expect(told).toContainEqual({
    name: 'readiness.failed',
    attributes: { error: 'StoreError', words: 'The store is away.' },
  })
  fault = async () => undefined as never
  vi.advanceTimersByTime(1_000)
  expect(await orders.readiness()).toEqual(isOk)
})

test('a store that hangs is waited for 3 seconds, and by liveness not at all', async () => {
  const { orders, writes } = open(() => new Promise(() => undefined))
  const ready = orders.readiness()
  expect(await orders.liveness()).toEqual(isOk)
  await vi.advanceTimersByTimeAsync(2_999)
  expect(await Promise.race([ready, 'waiting'])).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1)
  expect(await ready).toEqual({ ok: false, reason: 'storeUnavailable' })
  // Later probes wait for the same look.
  const before = writes()
  await vi.advanceTimersByTimeAsync(1_000)
  const again = orders.readiness()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await again).toEqual({ ok: false, reason: 'storeUnavailable' })
  expect(writes()).toBe(before)
})

test('liveness alone finds that the store is lost', async () => {
  const losing = new AbortController()
  const lose = async () => {
    losing.abort()
    throw new StoreError('lost its database')
  }
  const { orders } = open(lose, { lost: losing.signal })
  expect(await orders.liveness()).toEqual(isOk)
  await expect.poll(orders.liveness).toEqual({ ok: false, reason: 'storeLost' })
  expect(await orders.readiness()).toEqual({ ok: false, reason: 'storeLost' })
})

test('a process without a sealing key that is in use is not ready', async () => {
  const memory = memoryStore({ volatile: true })
  const countKeys = async () => ({ old: 2 })
  const read: PaymentStore['read'] = (work) =>
    memory.read((tables) =>
      work({ ...tables, secrets: { ...tables.secrets, countKeys } }),
    )
  const { orders, told } = open(undefined, { read })
  expect(await orders.readiness()).toEqual({ ok: false, reason: 'wrongSetup' })
  const [failure] = told.filter(({ name }) => name === 'readiness.failed')
  expect(failure?.attributes.words).toContain('"old"')
})

test('a closed process is live, not ready, and asks its store nothing', async () => {
  const { orders, writes } = open()
  await orders.close()
  const before = writes()
  expect(await orders.readiness()).toEqual({ ok: false, reason: 'stopping' })
  expect(await orders.liveness()).toEqual(isOk)
  expect(writes()).toBe(before)
})
