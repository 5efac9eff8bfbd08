import { startDevChain } from 'countersign/devchain'
import { afterAll, afterEach, expect, test } from 'vitest'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../../src/store/types.js'
import { fundedAccount } from '../../support/desk.js'
import {
  capture,
  captureAll,
  mineLeftovers,
  openNonces,
  openShop,
  rowsOf,
  type Shop,
  type ShopParameters,
  storeOrders,
  timesPaid,
} from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control } = chain.clients
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
afterEach(() => control.setAutomine(true))

/** Several instances of one account over one store. */
async function openShops(
  ...each: Partial<ShopParameters>[]
): Promise<[Shop, Shop]> {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const open = (own: Partial<ShopParameters> = {}) =>
    openShop(chain, { account, store, policy: { lease: 400 }, ...own })
  return [open(each[0]), open(each[1])]
}

/** As long as a transport waits. */
const silence = () =>
  new Promise((_, reject) =>
    setTimeout(() => reject(new Error('timed out')), 2000),
  )

/** Broadcasts of a node, by what was sent. */
function recordSends(
  pass: (place: number) => boolean,
): [string[], NonNullable<ShopParameters['answer']>] {
  const sent: string[] = []
  return [
    sent,
    ({ method, params }, forward) => {
      if (method !== 'eth_sendRawTransaction') return forward()
      sent.push(String(params))
      return pass(sent.length) ? forward() : silence()
    },
  ]
}

test('two instances on one store share a submitter without doing anything twice', async () => {
  const shops = await openShops({}, {})
  const [one, other] = shops
  const ids = await storeOrders(one, 40)
  const results = await Promise.all([
    captureAll(one, ids),
    captureAll(other, ids),
  ])
  expect(new Set(results.flat())).toEqual(new Set(['captured']))
  expect(await timesPaid(one, ids)).toEqual(ids.map(() => 1))
  const { transactions } = await rowsOf(one, ids)
  expect(transactions).toHaveLength(40)
  expect(transactions.every(({ bump }) => bump === 0)).toBe(true)
  expect(await openNonces(one)).toBe(0)
})

test('what was on record and never left is sent by whoever takes over, byte by byte', async () => {
  const [lost, dead] = recordSends(() => false)
  const [kept, alive] = recordSends(() => true)
  const [one, other] = await openShops({ answer: dead }, { answer: alive })
  const ids = await storeOrders(one, 3)
  void captureAll(one, ids, 300)
  await expect.poll(() => new Set(lost).size).toBe(3)
  expect(await captureAll(other, ids)).toEqual([
    'captured',
    'captured',
    'captured',
  ])
  // The first one may have tried them again meanwhile.
  expect(kept).toEqual([...new Set(lost)])
  expect(await timesPaid(one, ids)).toEqual([1, 1, 1])
  const { transactions } = await rowsOf(one, ids)
  expect(
    transactions.map(({ hash, inFlight }) => [Boolean(hash), inFlight]),
  ).toEqual(ids.map(() => [true, false]))
})

test('an instance that slept past its lease writes and doubles nothing', async () => {
  const store = memoryStore()
  let wake: () => void = () => undefined
  let isAsleep = false
  const asleep = new Promise<void>((resolve) => {
    wake = resolve
  })
  // It stops when it is about to write what it has signed.
  const sleepy: PaymentStore = {
    ...store,
    write: async (work, options) => {
      if (options?.lease && !isAsleep) {
        isAsleep = true
        await asleep
      }
      return store.write(work, options)
    },
  }
  const [one, other] = await openShops({ store: sleepy }, { store })
  const ids = await storeOrders(other, 5)
  const first = captureAll(one, ids)
  await expect.poll(() => isAsleep).toBe(true)
  const second = await captureAll(other, ids)
  wake()
  expect(await first).toEqual(second)
  expect(new Set(second)).toEqual(new Set(['captured']))
  expect(await timesPaid(other, ids)).toEqual(ids.map(() => 1))
  const { transactions, events } = await rowsOf(other, ids)
  expect(transactions).toHaveLength(5)
  expect(events.filter(({ type }) => type === 'capturing')).toHaveLength(5)
  expect(one.seen.map(({ attributes }) => attributes.error)).toContain(
    'LeaseLostError',
  )
})

test('a submitter is given back when nobody waits any more', async () => {
  const [one, other] = await openShops(
    { policy: { lease: 60_000 } },
    { policy: { lease: 60_000 } },
  )
  const [first, second] = await storeOrders(one, 2)
  expect(await capture(one, first)).toMatchObject({ status: 'captured' })
  expect(await capture(other, second)).toMatchObject({ status: 'captured' })
})

test('a void that came while it was signed wins, and leaves no gap', async () => {
  const store = memoryStore()
  let isDone = false
  let orderId = ''
  // Between reading what is due and writing what was signed.
  const busy: PaymentStore = {
    ...store,
    write: async (work, options) => {
      if (options?.lease && !isDone) {
        isDone = true
        await store.write(async (tables) => {
          const [order] = await tables.orders.find({ ids: [orderId] })
          if (order)
            await tables.orders.update([
              { ...order, state: 'voided', requested: undefined },
            ])
        })
      }
      return store.write(work, options)
    },
  }
  const [shop] = await openShops({ store: busy })
  const ids = await storeOrders(shop, 3)
  orderId = ids[1] ?? ''
  const results = await captureAll(shop, ids)
  expect(results).toEqual(['captured', 'rejected', 'captured'])
  const { transactions } = await rowsOf(shop, ids)
  expect(transactions.map(({ nonce }) => nonce).sort()).toEqual([0, 1])
  expect(await openNonces(shop)).toBe(0)
})

test('what was written to an order while it was captured is still there after', async () => {
  const store = memoryStore()
  let writes = 0
  let orderId = ''
  // Between sending what is on record and settling it.
  const busy: PaymentStore = {
    ...store,
    write: async (work, options) => {
      if (options?.lease && ++writes === 2)
        await store.write(async (tables) => {
          const [order] = await tables.orders.find({ ids: [orderId] })
          if (order)
            await tables.orders.update([
              { ...order, metadata: { note: 'gift' } },
            ])
        })
      return store.write(work, options)
    },
  }
  const [shop] = await openShops({ store: busy })
  const ids = await storeOrders(shop, 3)
  orderId = ids[1] ?? ''
  const results = await captureAll(shop, ids)
  expect(results).toEqual(['captured', 'captured', 'captured'])
  const { orders } = await rowsOf(shop, ids)
  expect(orders.map(({ metadata }) => metadata)).toEqual([
    ...[{}, { note: 'gift' }, {}],
  ])
})

test('a nonce nobody uses is filled, so that later ones go ahead', async () => {
  const [shop] = await openShops({})
  const { submitter } = shop.context.wallets[0] ?? {}
  const key = `submitter:${submitter?.chainId}:${submitter?.account}`
  // As if a foreign transaction had been counted and then dropped.
  await shop.context.store.write((tables) =>
    tables.setValue(key, { nextNonce: 2 }),
  )
  const ids = await storeOrders(shop, 2)
  expect(await captureAll(shop, ids)).toEqual(['captured', 'captured'])
  const at = { chainId: 31337, account: submitter?.account ?? '0x' }
  const filled = await shop.context.store.read((tables) =>
    tables.transactions.find({ at, nonce: 1 }),
  )
  expect(filled).toMatchObject([{ kind: 'filler', movements: [] }])
  expect(await openNonces(shop)).toBe(0)
})
