import { type DevChain, startDevChain } from 'countersign/devchain'
import {
  createOrders,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { createClient, http, type PrivateKeyAccount } from 'viem'
import { deployContract, waitForTransactionReceipt } from 'viem/actions'
import { expect, onTestFinished, test } from 'vitest'
import { isFull, seed, sqliteFile } from '../../chain/support/chaos.js'
import { fundedAccount } from '../../chain/support/desk.js'
import { checkEvents } from '../../chain/support/eventContract.js'
import { compileHostile } from '../../chain/support/hostileContracts.js'
import { findProblems } from '../../chain/support/walkInvariants.js'
import {
  planWalk,
  type Walk,
  type WalkShop,
} from '../../chain/support/walkOperations.js'

const count = isFull ? 200 : 60
/** Two workers take more of the machine's time. */
const shortCount = isFull ? 200 : 30
const timeout = isFull ? 3_000_000 : 600_000

const epochBlocks = 40
const contracts = compileHostile()

const basePolicy: OrdersPolicy = {
  safetyMargin: 1n,
  deadlineNear: 5n,
  capture: 'manual',
  pollingInterval: 80,
  bumpAfter: 3,
  lease: 2_000,
}

type Setting = {
  chain: DevChain
  policy: OrdersPolicy
  seller: PrivateKeyAccount
  /** How many instances work for it. */
  workers: number
  openStore: () => PaymentStore
}

function openOrders(setting: Setting): Orders {
  const { chain, policy, seller, openStore } = setting
  const url = chain.urls.http
  return createOrders({
    store: checkEvents(openStore()),
    seal: 'none',
    tokens: [
      {
        client: createReadClient({ chain: chain.chain, url }),
        token: chain.token,
      },
    ],
    wallets: [
      createClient({
        account: seller,
        chain: chain.chain,
        transport: http(url, { retryCount: 0 }),
      }),
    ],
    policy: { ...basePolicy, ...policy },
  })
}

/** Takes payments with nobody at work until it is started. */
function openShop(setting: Setting): WalkShop {
  let ends = new AbortController()
  let runs: Promise<void>[] = []
  const closing: Orders[] = []
  const open = () => {
    const orders = openOrders(setting)
    closing.push(orders)
    return orders
  }
  const shop: WalkShop = {
    seller: setting.seller,
    orders: open(),
    start: async () => {
      ends = new AbortController()
      const { signal } = ends
      const others = Array.from({ length: setting.workers - 1 }, open)
      runs = [shop.orders, ...others].map((orders) => orders.run({ signal }))
    },
    stop: async () => {
      ends.abort()
      await Promise.all(runs)
      await Promise.all(closing.splice(0).map((orders) => orders.close()))
      shop.orders = open()
    },
  }
  return shop
}

async function deployBatch({ clients }: DevChain): Promise<Walk['batch']> {
  const { relayer, public: reader } = clients
  const { abi, bytecode } = contracts.batch
  const hash = await deployContract(relayer, { abi, bytecode })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  if (!receipt.contractAddress) throw new Error('not deployed')
  return { address: receipt.contractAddress, abi }
}

async function openWalk(
  store: PaymentStore,
  openStore: () => PaymentStore,
  workers: number,
): Promise<Walk> {
  // One for each: a fork of some 900 blocks leaves anvil without a state.
  const chain = await startDevChain({ blockTime: 0, epochBlocks })
  onTestFinished(() => chain.stop())
  const policies: readonly OrdersPolicy[] = [
    { relayCancellations: 'always' },
    { relayCancellations: 'onApproval' },
  ]
  const shops: WalkShop[] = []
  for (const policy of policies) {
    const seller = await fundedAccount(chain)
    shops.push(openShop({ chain, policy, seller, workers, openStore }))
  }
  const buyers: PrivateKeyAccount[] = []
  while (buyers.length < 4)
    buyers.push(await fundedAccount(chain, 2_000_000_000n))
  const batch = await deployBatch(chain)
  // No reorganization takes any of this back.
  await chain.clients.test.mine({ blocks: 2 * epochBlocks + 3 })
  for (const { orders } of shops) await orders.reconcile({ fromBlock: 0n })
  for (const shop of shops) await shop.start()
  onTestFinished(async () => {
    for (const shop of shops) {
      await shop.stop()
      await shop.orders.close()
    }
  })
  return { chain, store, shops, buyers, batch, sold: [], told: [] }
}

/** Has all compared at once that a worker compares every ten seconds. */
async function problemsOf(walk: Walk, isEnd = false): Promise<string[]> {
  const problems = await findProblems(walk, isEnd)
  if (problems.length > 0)
    await Promise.allSettled(walk.shops.map(({ orders }) => orders.reconcile()))
  return problems
}

async function expectNoProblems(walk: Walk, what: string): Promise<void> {
  const message = `${what}\n${walk.told.slice(-40).join('\n')}`
  await expect
    .poll(() => problemsOf(walk), {
      message,
      timeout: 60_000,
      interval: 50,
    })
    .toEqual([])
}

/** Until all windows are over, and all that happened is final. */
async function expectGoodEnd(walk: Walk): Promise<void> {
  const message = `end\n${walk.told.slice(-40).join('\n')}`
  await walk.chain.warp(20_000)
  await expect
    .poll(
      async () => {
        await walk.chain.clients.test.mine({ blocks: epochBlocks })
        return problemsOf(walk, true)
      },
      { message, timeout: 120_000, interval: 500 },
    )
    .toEqual([])
}

async function walkAlong(
  walk: Walk,
  seed: number,
  count: number,
): Promise<void> {
  for (const [at, act] of planWalk(seed, count).entries()) {
    await act(walk)
    await expectNoProblems(walk, `after operation ${at + 1}`)
  }
  await expectGoodEnd(walk)
}

const places = isFull ? [20, 21, 22] : [20]

for (const place of places) {
  test(`the record on SQLite is what the chain shows after each of ${count} random operations and forks [seed ${seed}, walk ${place}]`, {
    timeout,
  }, async () => {
    const { file, store } = sqliteFile()
    const walk = await openWalk(store, () => sqliteStore({ file }), 1)
    await walkAlong(walk, seed + place, count)
  })

  test(`the record in memory, kept by two workers, is what the chain shows after each of ${shortCount} random operations and forks [seed ${seed}, walk ${place + 10}]`, {
    timeout,
  }, async () => {
    const store = memoryStore({ volatile: true })
    const walk = await openWalk(store, () => store, 2)
    await walkAlong(walk, seed + place + 10, shortCount)
  })
}
