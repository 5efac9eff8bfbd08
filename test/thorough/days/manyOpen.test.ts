// The first time, 50,000 took 256 MB of heap at most and kept 12 MB. A new order was
// captured while 46,400 of them had yet to expire, which took 1,133 requests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import type { OrderState, PaymentStore } from 'countersign/store'
import type { PrivateKeyAccount } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteFile } from '../../chain/support/chaos.js'
import {
  countOf,
  draft,
  fakeNode,
  fundedAccount,
  randomHash,
} from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import {
  openShop as openEngine,
  rowsOf,
  storeOrder,
} from '../../chain/support/orderRows.js'
import { openShop, storedOrder } from '../../chain/support/shop.js'
import { mineBlocks, watchOf } from '../../chain/support/watching.js'

const many = 50_000
const few = 10
const chunk = 2_500

/** Milliseconds until a periodic reconciliation, beyond any test. */
const never = 1_000_000_000

const chain = await startDevChain({ blockTime: 0, epochBlocks: 1 })
afterAll(() => chain.stop())

/** A shop's database, and what sends for it. */
type Filled = { store: PaymentStore; account: PrivateKeyAccount; open: number }

async function openEmpty(
  store: PaymentStore = sqliteFile().store,
): Promise<Filled> {
  return { store, account: await fundedAccount(chain), open: 0 }
}

/** Writes stored orders, each like one that a buyer paid, up to a count. */
async function fillTo(filled: Filled, count: number): Promise<void> {
  const { store, account } = filled
  if (filled.open >= count) return
  const shop = openEngine(chain, { account, store })
  const payment = await draft(chain, { to: account.address, amount: '1' })
  const first = await storeOrder(shop, payment)
  filled.open++
  const { orders, attempts } = await rowsOf(shop, [first])
  const [order] = orders
  const [attempt] = attempts
  if (!order || !attempt) throw new Error('The first order is not stored.')
  while (filled.open < count) {
    const ids = Array.from(
      { length: Math.min(chunk, count - filled.open) },
      (_, index) => `open-${filled.open + index}`,
    )
    await store.write(async (tables) => {
      await tables.orders.insert(
        ids.map((id) => ({ ...order, id, buyerTokenHash: randomHash() })),
      )
      await tables.attempts.insert(
        ids.map((orderId) => ({
          ...attempt,
          orderId,
          nonce: randomHash(),
          signatureHash: randomHash(),
        })),
      )
    })
    filled.open += ids.length
  }
}

/** Counts the rows of orders and attempts that a store hands out. */
function countRows(store: PaymentStore): {
  store: PaymentStore
  take(): number
} {
  let rows = 0
  const counted = async <row>(found: Promise<row[]>) => {
    const list = await found
    rows += list.length
    return list
  }
  const countedStore: PaymentStore = {
    ...store,
    read: (work) =>
      store.read((tables) =>
        work({
          ...tables,
          orders: {
            ...tables.orders,
            find: (query) => counted(tables.orders.find(query)),
          },
          attempts: {
            ...tables.attempts,
            find: (query) => counted(tables.attempts.find(query)),
          },
        }),
      ),
  }
  return {
    store: countedStore,
    take: () => {
      const taken = rows
      rows = 0
      return taken
    },
  }
}

/** What ten looks cost among the open orders, each at a new block. */
async function measureLooks(
  { store, account }: Filled,
  pace: { reconcileEvery: number; mostOpen?: number },
) {
  const counting = countRows(store)
  const node = fakeNode(chain)
  const { context } = openEngine(chain, {
    account,
    store: counting.store,
    client: node.client,
  })
  const watcher = watchOf(context, pace)
  for (let look = 0; look < 3; look++) await watcher.look()
  counting.take()
  node.asked.length = 0
  for (let look = 0; look < 10; look++) {
    await mineBlocks(chain, 1)
    await watcher.look()
  }
  await watcher.kept.release()
  return { methods: node.methods().sort(), rows: counting.take() }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-many-'))
const file = join(folder, 'orders.db')

/** The one large database: each test fills it further and leaves it open. */
const large = await openEmpty(sqliteStore({ file }))
afterAll(async () => {
  await large.store.close()
  rmSync(folder, { recursive: true })
})

test(`ten reconciliations among ${many} open orders ask and read what they do among half as many`, async () => {
  const pace = { reconcileEvery: 0, mostOpen: 100 }
  await fillTo(large, many / 2)
  const half = await measureLooks(large, pace)
  await fillTo(large, many)
  expect(await measureLooks(large, pace)).toEqual(half)
})

test(`ten idle looks among ${many} open orders ask and read what they do among ${few}`, async () => {
  const pace = { reconcileEvery: never }
  const small = await openEmpty()
  await fillTo(small, few)
  await fillTo(large, many)
  const cost = await measureLooks(small, pace)
  expect(await measureLooks(large, pace)).toEqual(cost)
})

test(`among ${many} open orders and while they expire new ones are captured, in bounded memory, and all are listed`, async () => {
  await fillTo(large, many)
  const { store, account } = large
  // `accept` asks for the gas of every order that waits.
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 20n })
  const node = fakeNode(chain)
  const shop = await openShop(chain, {
    store,
    sellers: [account],
    client: node.client,
    policy: { pollingInterval: 50, capture: 'onAccept' },
  })
  const { orders } = shop
  const before = heapAfterCollection()
  const memory = watchHeap()
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  const patience = { timeout: 600_000 }
  const sellOne = async () => {
    const { id: orderId } = await storedOrder(chain, shop, { window: 80_000n })
    await expect
      .poll(async () => (await orders.get({ orderId })).state, patience)
      .toBe('captured')
  }
  const counts = async () => {
    const { destinations } = await orders.health()
    return destinations.map(({ counts }) => counts)
  }
  await sellOne()
  expect(await counts()).toEqual([{ stored: many, captured: 1 }])
  expect(await countListed(orders, 'stored')).toBe(many)

  await chain.warp(1_000)
  await expect
    .poll(async () => {
      await mineBlocks(chain, 1)
      return (await counts())[0]?.expired ?? 0
    }, patience)
    .toBeGreaterThan(0)
  await sellOne()
  const [open] = await counts()
  expect(open?.stored, 'not yet expired').toBeGreaterThan(0)
  node.asked.length = 0
  await expect
    .poll(async () => {
      await mineBlocks(chain, 1)
      return counts()
    }, patience)
    .toEqual([{ expired: many, captured: 2 }])
  const requests = node.asked.length
  expect(await countListed(orders, 'expired')).toBe(many)
  const peak = memory.stop()
  const kept = heapAfterCollection() - before
  process.stdout.write(
    `${many} open orders: ${Math.round(peak / 2 ** 20)} MB of heap at most, ${Math.round(kept / 2 ** 20)} MB more afterwards; ${requests} requests while the last ${open?.stored} expired\n`,
  )
  expect(peak).toBeLessThan(mostHeap)
  expect(kept).toBeLessThan(mostKept)
  expect(await countOf(chain, account)).toBe(2)
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({ ok: true })
  expect(await findBookProblems(chain, orders)).toEqual([])
})

/** Bytes of the heap, of which this file and its modules take about 200 MB. */
const mostHeap = 1_000 * 2 ** 20

/** Bytes that may be held on to for so many orders that are over. */
const mostKept = 100 * 2 ** 20

/** Bytes of the heap that are in use. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** Notes how large the heap is at most. */
function watchHeap(): { stop(): number } {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  const looking = setInterval(look, 100)
  return {
    stop: () => {
      clearInterval(looking)
      return peak
    },
  }
}

/** Follows the pages of `list`, and counts the orders that they show. */
async function countListed(orders: Orders, state: OrderState): Promise<number> {
  const ids = new Set<string>()
  let before: bigint | undefined
  do {
    const page = await orders.list({ states: [state], limit: 200, before })
    for (const { id } of page.orders) ids.add(id)
    before = page.cursor
  } while (before !== undefined)
  return ids.size
}
