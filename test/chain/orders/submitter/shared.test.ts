import { startDevChain } from 'countersign/devchain'
import { createReadClient } from 'countersign/reads'
import type { Account, Address } from 'viem'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createContext } from '../../../../src/orders/createContext.js'
import type { OrdersPolicy } from '../../../../src/orders/model/types.js'
import { runWorker } from '../../../../src/orders/runWorker.js'
import { createSubmitterEngine } from '../../../../src/orders/submitter/submitterEngine.js'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import { sealer } from '../../../../src/store/sealer.js'
import type { PaymentStore, Sealer } from '../../../../src/store/types.js'
import {
  draft,
  fakeNode,
  fundedAccount,
  newAccount,
} from '../../support/desk.js'
import { mineLeftovers, storeOrder } from '../../support/orderRows.js'

const chain = await startDevChain({ blockTime: 0 })
const { test: control } = chain.clients
afterAll(() => chain.stop())
afterAll(mineLeftovers(chain))
afterEach(() => control.setAutomine(true))

/** Slow machines take a while to get there. */
const patience = { timeout: 60_000 }

/** A shop that is paid at an address of its own, and shares who sends. */
function openSharing(
  account: Account,
  store: PaymentStore,
  {
    policy,
    seal = 'none',
  }: { policy?: OrdersPolicy; seal?: Sealer | 'none' } = {},
) {
  const recipient = newAccount().address
  const node = fakeNode(chain, undefined, account)
  const reader = createReadClient({ url: chain.urls.http, chain: chain.chain })
  const context = createContext({
    store,
    seal,
    tokens: [{ client: reader, token: chain.token }],
    wallets: [node.client],
    recipients: [recipient],
    // Longer than the test: a submitter that is not given up is not had.
    policy: { pollingInterval: 20, lease: 600_000, ...policy },
  })
  return {
    context,
    node,
    addDue: async (changes: Parameters<typeof storeOrder>[2] = {}) => {
      const payment = await draft(chain, {
        to: recipient,
        amount: '1',
        primaryType: 'TransferWithAuthorization',
      })
      return storeOrder({ context, chain }, payment, {
        submitter: account.address.toLowerCase() as Address,
        requested: 'capture',
        sendDue: 0n,
        ...changes,
      })
    },
    /** Starts a worker; gives what stops it. */
    start: () => {
      const stop = new AbortController()
      const engine = createSubmitterEngine(context)
      const { signal } = stop
      const running = runWorker(context, engine, { signal })
      return async () => {
        stop.abort()
        await running
        await engine.stop()
      }
    },
  }
}

const statesOf = async (store: PaymentStore, ids: readonly string[]) => {
  const orders = await store.read((tables) => tables.orders.find({ ids }))
  return ids.map((id) => orders.find((order) => order.id === id)?.state)
}

test('two shops that share a relaying wallet take turns on its submitter', async () => {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const [one, other] = [1, 2].map(() => openSharing(account, store))
  if (!one || !other) throw new Error('no shop')
  const first = await one.addDue()
  const stopOne = one.start()
  await expect
    .poll(() => statesOf(store, [first]), patience)
    .toEqual(['captured'])
  // The first one holds the submitter, and is never without work from here on.
  const busy: string[] = []
  let isOver = false
  const keepBusy = async () => {
    while (!isOver) {
      busy.push(await one.addDue())
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  }
  const working = keepBusy()
  const stopOther = other.start()
  const ids = [await other.addDue()]
  await expect.poll(() => statesOf(store, ids), patience).toEqual(['captured'])
  isOver = true
  await working
  ids.push(await other.addDue(), await one.addDue(), ...busy)
  await expect
    .poll(() => statesOf(store, ids), patience)
    .toEqual(ids.map(() => 'captured'))
  await Promise.all([stopOne(), stopOther()])
})

test('an order that is due by the time of the chain only is waited for too', async () => {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const [one, other] = [1, 2].map(() => openSharing(account, store))
  if (!one || !other) throw new Error('no shop')
  const first = await one.addDue()
  const stopOne = one.start()
  await expect
    .poll(() => statesOf(store, [first]), patience)
    .toEqual(['captured'])
  const { timestamp } = await chain.clients.public.getBlock()
  const id = await other.addDue({ sendDue: timestamp + 300n })
  const stopOther = other.start()
  await chain.warp(301)
  await expect.poll(() => statesOf(store, [id]), patience).toEqual(['captured'])
  await Promise.all([stopOne(), stopOther()])
})

test('what one shop has in flight is settled by the other, and not given up for want of its key', async () => {
  const account = await fundedAccount(chain)
  const store = memoryStore()
  const keyOf = (letter: number) =>
    sealer({
      keys: { main: new Uint8Array(32).fill(letter) },
      current: 'main',
    })
  const [one, other] = [1, 2].map((letter) =>
    openSharing(account, store, {
      seal: keyOf(letter),
      policy: { bumpAfter: 1 },
    }),
  )
  if (!one || !other) throw new Error('no shop')
  await control.setAutomine(false)
  const inFlight = await one.addDue()
  const stopOne = one.start()
  await expect
    .poll(() => statesOf(store, [inFlight]), patience)
    .toEqual(['capturing'])
  await stopOne()
  // It is stuck now, also by the other's time, and gone from the node's pool.
  await control.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 12n })
  const stopOther = other.start()
  const sends = () => other.node.methods().length
  await control.mine({ blocks: 1 })
  await chain.warp(5)
  const id = await other.addDue()
  await expect.poll(sends, patience).toBeGreaterThan(0)
  await control.setAutomine(true)
  const rows = await store.read(({ transactions }) =>
    transactions.find({ orderIds: [inFlight] }),
  )
  expect(rows.map(({ kind }) => kind)).not.toContain('filler')
  const stopAgain = one.start()
  await expect
    .poll(() => statesOf(store, [inFlight, id]), patience)
    .toEqual(['captured', 'captured'])
  await Promise.all([stopOther(), stopAgain()])
})
