import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import type { OrderState, PaymentStore } from 'countersign/store'
import type { PrivateKeyAccount } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { isFull, sqliteFile } from '../../chain/support/chaos.js'
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

const many = isFull ? 50_000 : 5_000
const few = 10
const chunk = 500

/** Milliseconds until a periodic reconciliation, beyond any test. */
const never = 1_000_000_000

const chain = await startDevChain({ blockTime: 0, epochBlocks: 1 })
afterAll(() => chain.stop())

/** Writes so many stored orders, each like one that a buyer paid. */
async function fillOpen({
  store,
  account,
  count,
}: {
  store: PaymentStore
  account: PrivateKeyAccount
  count: number
}): Promise<void> {
  const shop = openEngine(chain, { account, store })
  const payment = await draft(chain, { to: account.address, amount: '1' })
  const first = await storeOrder(shop, payment)
  const { orders, attempts } = await rowsOf(shop, [first])
  const [order] = orders
  const [attempt] = attempts
  if (!order || !attempt) throw new Error('The first order is not stored.')
  for (let from = 1; from < count; from += chunk) {
    const ids = Array.from(
      { length: Math.min(chunk, count - from) },
      (_, index) => `open-${from + index}`,
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

/** What ten looks cost among so many open orders, each at a new block. */
async function measureLooks(
  count: number,
  pace: { reconcileEvery: number; mostOpen?: number },
) {
  const { store } = sqliteFile()
  const account = await fundedAccount(chain)
  await fillOpen({ store, account, count })
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
  return { methods: node.methods().sort(), rows: counting.take() }
}

test(`ten idle looks among ${many} open orders ask and read what they do among ${few}`, async () => {
  const pace = { reconcileEvery: never }
  const small = await measureLooks(few, pace)
  expect(await measureLooks(many, pace)).toEqual(small)
})

test(`ten reconciliations among ${many} open orders ask and read what they do among half as many`, async () => {
  const pace = { reconcileEvery: 0, mostOpen: 100 }
  const small = await measureLooks(many / 2, pace)
  expect(await measureLooks(many, pace)).toEqual(small)
})

test(`among ${many} open orders a new one is captured, all are listed, and all expire`, async () => {
  const { store } = sqliteFile()
  const account = await fundedAccount(chain)
  // `accept` asks for the gas of every order that waits.
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 20n })
  await fillOpen({ store, account, count: many })
  const shop = await openShop(chain, {
    store,
    sellers: [account],
    policy: { pollingInterval: 50, capture: 'onAccept' },
  })
  const { orders } = shop
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  const { id } = await storedOrder(chain, shop)
  const patience = { timeout: 600_000 }
  await expect
    .poll(async () => (await orders.get({ orderId: id })).state, patience)
    .toBe('captured')
  const counts = async () => {
    const { destinations } = await orders.health()
    return destinations.map(({ counts }) => counts)
  }
  expect(await counts()).toMatchObject([{ stored: many, captured: 1 }])
  expect(await countListed(orders, 'stored')).toBe(many)

  await chain.warp(1_000)
  await expect
    .poll(async () => {
      await mineBlocks(chain, 1)
      return counts()
    }, patience)
    .toMatchObject([{ expired: many, captured: 1 }])
  expect(await countListed(orders, 'expired')).toBe(many)
  expect(await countOf(chain, account)).toBe(1)
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({ ok: true })
  expect(await findBookProblems(chain, orders)).toEqual([])
})

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
