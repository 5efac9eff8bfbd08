import { startDevChain } from 'countersign/devchain'
import type { Observation } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { afterAll, expect, test } from 'vitest'
import { StoreError } from '../../../src/store/errors.js'
import type { OrderQuery, PaymentStore } from '../../../src/store/types.js'
import { fakeNode, fundedAccount } from '../../chain/support/desk.js'
import { openMany } from '../../chain/support/manyRecipients.js'
import { openShop, storedOrder } from '../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

const never = new Promise<never>(() => undefined)

test('a worker tries a store that does not open again, until it does', async () => {
  const kept = memoryStore()
  let failures = 3
  const store: PaymentStore = {
    ...kept,
    open: async () => {
      if (failures-- > 0)
        throw new StoreError('cannot reach its database', true)
      return kept.open()
    },
  }
  const account = await fundedAccount(chain)
  const policy = { capture: 'onAccept', pollingInterval: 20 } as const
  const sellers = [account]
  const desk = await openShop(chain, { store: kept, sellers, policy })
  const { id } = await storedOrder(chain, desk)
  const seen: Observation[] = []
  const { orders } = await openShop(chain, {
    store,
    sellers,
    policy,
    observe: (one) => seen.push(one),
  })
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  const stateOf = async () => (await desk.orders.get({ orderId: id })).state
  await expect.poll(stateOf, patience).toBe('captured')
  stop.abort()
  await running
  const failed = seen.filter(({ name }) => name === 'store.failed')
  expect(failed).toHaveLength(3)
  expect(failed[0]?.attributes).toMatchObject({ error: 'StoreError' })
})

test('a worker whose store never opens ends when it is told to', async () => {
  const kept = memoryStore()
  let tries = 0
  const store: PaymentStore = {
    ...kept,
    open: async () => {
      tries++
      throw new StoreError('cannot reach its database', true)
    },
  }
  const { orders } = await openShop(chain, { store })
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  await expect.poll(() => tries, patience).toBeGreaterThan(1)
  stop.abort()
  await running
})

test.each(['run', 'close'] as const)(
  '%s ends though the database hangs',
  async (verb) => {
    const kept = memoryStore()
    let isHanging = false
    let hung = 0
    const hang = async () => {
      if (!isHanging) return
      hung++
      await never
    }
    const store: PaymentStore = {
      ...kept,
      read: async (work) => {
        await hang()
        return kept.read(work)
      },
      write: async (work, options) => {
        await hang()
        return kept.write(work, options)
      },
      close: async () => {
        await hang()
        await kept.close()
      },
    }
    const { orders } = await openShop(chain, {
      store,
      policy: { pollingInterval: 20 },
    })
    await orders.list()
    const stop = new AbortController()
    const running = orders.run({ signal: stop.signal })
    isHanging = true
    await expect.poll(() => hung, patience).toBeGreaterThan(0)
    if (verb === 'run') stop.abort()
    else await orders.close()
    await running
  },
)

test('a database that hangs in some submitters keeps no other submitter from its captures', async () => {
  const accounts = await Promise.all(
    Array.from({ length: 5 }, () => fundedAccount(chain)),
  )
  const good = accounts.at(-1)
  if (!good) throw new Error('no account')
  const kept = memoryStore()
  const hung = new Set<string>()
  const find = async (query: OrderQuery) => {
    if (!('sendDue' in query)) return
    const { account } = query.sendDue
    if (account === good.address.toLowerCase()) return
    hung.add(account)
    await never
  }
  const store: PaymentStore = {
    ...kept,
    read: (work) =>
      kept.read((tables) =>
        work({
          ...tables,
          orders: {
            ...tables.orders,
            find: async (query) => {
              await find(query)
              return tables.orders.find(query)
            },
          },
        }),
      ),
  }
  const wallets = accounts.map((account) => fakeNode(chain, undefined, account))
  const many = openMany(chain, { reader: fakeNode(chain), wallets, store })
  await many.runDuring(async () => {
    await expect.poll(() => hung.size, patience).toBe(4)
    const id = await many.addDue(good)
    await expect.poll(() => many.stateOf(id), patience).toBe('captured')
  })
})
