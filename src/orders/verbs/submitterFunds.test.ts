import { type Address, createClient, custom, toHex } from 'viem'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryStore } from '../../store/memoryStore.js'
import type { Destination, OrderState, StoreReader } from '../../store/types.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import {
  getSubmitterFunds,
  keepGas,
  releaseGas,
  reserveGas,
} from './submitterFunds.js'

const [one, two, shop, token] = ['1', '2', '3', '4'].map(
  (digit) => `0x${digit.repeat(40)}` as Address,
) as [Address, Address, Address, Address]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/**
 * A submitter whose recipients have these numbers of orders, and a counter of
 * requests to its node.
 */
function submitter(
  counts: Record<Address, Partial<Record<OrderState, number>>>,
) {
  const asked: string[] = []
  let failures = 0
  let empty = 0
  const client = createClient({
    transport: custom(
      {
        request: async ({ method }) => {
          asked.push(method)
          if (failures-- > 0) throw new Error('no')
          if (method === 'eth_getBalance' && empty-- > 0) return '0x0'
          return toHex(method === 'eth_gasPrice' ? 10n : 1_000n)
        },
      },
      { retryCount: 0 },
    ),
  })
  const wallets = [one, two].map((account) => ({
    submitter: { chainId: 1, account },
  })) as OrderWallet[]
  const destinations = [one, two, shop].map((recipient) => ({
    chainId: 1,
    token,
    recipient,
  }))
  const count = async (destinations: readonly Destination[]) => {
    const sums: Partial<Record<OrderState, number>> = {}
    for (const { recipient } of destinations)
      for (const [state, more] of Object.entries(counts[recipient] ?? {}))
        sums[state as OrderState] = (sums[state as OrderState] ?? 0) + more
    return sums
  }
  const store = {
    ...memoryStore(),
    read: async (work: (tables: StoreReader) => Promise<unknown>) =>
      work({ orders: { count } } as unknown as StoreReader),
  }
  const relayers = wallets.map(({ submitter }) => submitter)
  const given = { store, destinations, wallets, relayers }
  const context = given as unknown as OrdersContext
  return {
    asked,
    fail: (times: number) => {
      failures = times
    },
    showEmpty: (times: number) => {
      empty = times
    },
    keep: (gas: bigint) =>
      keepGas(context, wallets[0] as OrderWallet, client, gas),
    read: () => getSubmitterFunds(context, wallets[0] as OrderWallet, client),
  }
}

test('what waits for a submitter is what it may still have to send', async () => {
  const { read } = submitter({
    [one]: { drafted: 100, stored: 2, capturing: 3, canceling: 4, captured: 9 },
    [two]: { stored: 50 },
    [shop]: { stored: 5 },
  })
  // Half of the five orders, rounded up, are sent through the other wallet.
  expect(await read()).toEqual({ balance: 1_000n, gasPrice: 10n, open: 12 })
})

test('it is asked again after ten seconds and not before, though the clock is set back', async () => {
  const { read, asked } = submitter({})
  await Promise.all([read(), read()])
  vi.advanceTimersByTime(9_999)
  await read()
  expect(asked).toEqual(['eth_getBalance', 'eth_gasPrice'])
  vi.setSystemTime(0)
  vi.advanceTimersByTime(1)
  await read()
  expect(asked).toHaveLength(4)
})

test('a failure is not remembered', async () => {
  const { read, fail } = submitter({})
  fail(2)
  await expect(read()).rejects.toMatchObject({ name: 'NodeError' })
  expect(await read()).toMatchObject({ balance: 1_000n })
})

test('one answer that shows no funds refuses nobody', async () => {
  const { keep, showEmpty, asked } = submitter({})
  showEmpty(1)
  expect(await keep(10n)).toMatchObject({ ok: true })
  expect(asked.filter((method) => method === 'eth_getBalance')).toHaveLength(2)
})

test('gas is kept for one capture after the other until it is spoken for', () => {
  const funds = { balance: 1_000n, gasPrice: 10n, open: 1 }
  const gas = 33n
  expect(reserveGas(funds, gas)).toEqual({ ok: true })
  expect(reserveGas(funds, gas)).toEqual({ ok: true })
  expect(reserveGas(funds, gas)).toEqual({
    ok: false,
    details: { balance: 1_000n, needed: 1_320n, open: 3 },
  })
  expect(funds.open).toBe(3)
  releaseGas(funds)
  expect(reserveGas(funds, gas)).toEqual({ ok: true })
})
