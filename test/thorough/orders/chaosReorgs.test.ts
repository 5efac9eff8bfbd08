import { setTimeout } from 'node:timers/promises'
import { getPaymentOutcome, type SignedPayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createOrders, type OrderEvent } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { type Address, createClient, custom } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { carries } from '../../../src/store/movements.js'
import {
  isFull,
  seed,
  sqliteFile,
  startChance,
} from '../../chain/support/chaos.js'
import { delegateByCode } from '../../chain/support/delegateByCode.js'
import { countOf, fundedAccount } from '../../chain/support/desk.js'
import { putMulticall } from '../../chain/support/multicall3.js'
import { pay, type Shop } from '../../chain/support/shop.js'

const count = isFull ? 300 : 40
/** Milliseconds of load. */
const duration = isFull ? 75_000 : 10_000
const timeout = isFull ? 300_000 : 120_000

// No reorganization reaches what is called safe.
const chain = await startDevChain({ blockTime: 0, epochBlocks: 6 })
// Half of the payments may share transactions.
await putMulticall(chain)
const { public: reader, test: control } = chain.clients
const gate = openGate()
const client = createReadClient({
  chain: chain.chain,
  transport: gate.transport,
})

const policy = {
  capture: 'onAccept',
  fulfilAt: 'included',
  safetyMargin: 1n,
  deadlineNear: 1n,
  pollingInterval: 100,
  bumpAfter: 3,
} as const

const buyer = await fundedAccount(chain, 1_000_000_000n)
/** A capture that comes too late makes the other orders of its payer wait. */
const hasty = await fundedAccount(chain, 1_000_000_000n)

/**
 * The node, to be asked while nothing replaces its blocks: others see only
 * what was before and what is after.
 */
function openGate() {
  let isClosed = false
  let running = 0
  const request = async (asked: never) => {
    while (isClosed) await setTimeout(2)
    running++
    try {
      return await reader.request(asked)
    } finally {
      running--
    }
  }
  const close = async (work: () => Promise<unknown>) => {
    while (isClosed) await setTimeout(2)
    isClosed = true
    while (running > 0) await setTimeout(2)
    try {
      await work()
    } finally {
      isClosed = false
    }
  }
  return { transport: custom({ request }, { retryCount: 0 }), close }
}

await control.setAutomine(false)
const mining = new AbortController()
const mined = (async () => {
  while (!mining.signal.aborted) {
    await gate.close(() => control.mine({ blocks: 1 }))
    await setTimeout(1_000)
  }
})()
afterAll(async () => {
  mining.abort()
  await mined
  await chain.stop()
})

/** A shop at work until the test ends. */
async function runShop({ isDelegated = false } = {}): Promise<Shop> {
  const { store } = sqliteFile()
  const account = await fundedAccount(chain)
  if (isDelegated)
    await gate.close(() => delegateByCode(chain, account.address))
  const { transport } = gate
  const orders = createOrders({
    store,
    policy,
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [createClient({ account, chain: chain.chain, transport })],
  })
  const seller = account.address.toLowerCase() as Address
  const shop = { orders, store, seller }
  const ends = new AbortController()
  const running = shop.orders.run({ signal: ends.signal })
  onTestFinished(async () => {
    ends.abort()
    await running
    await shop.orders.close()
  })
  // Nobody signed what funds an account: it would not come back.
  await gate.close(() => control.mine({ blocks: 7 }))
  return shop
}

type Sold = { id: string; payment: SignedPayment; isLong: boolean }

let sold = 0

async function sell({ orders }: Shop, window: bigint): Promise<Sold> {
  const primaryType =
    sold++ % 2 ? ('TransferWithAuthorization' as const) : undefined
  const drafted = await orders.draft({ amount: '1', window, primaryType })
  const { id } = drafted.order
  const isLong = window > 100n
  const payment = await pay(isLong ? buyer : hasty, drafted.payment)
  const accept = () => orders.accept({ orderId: id, payment })
  let verdict = await accept()
  // The clock of the fork may be behind the one of the draft for a while.
  for (let tries = 1; isLong && !verdict.ok && tries < 5; tries++) {
    expect(verdict.reason).toBe('notYetValid')
    await setTimeout(1_500)
    verdict = await accept()
  }
  if (isLong) expect(verdict).toMatchObject({ ok: true })
  return { id, payment, isLong }
}

/** Replaces one to six blocks now and then, each depth as often as the others. */
async function reorganize(
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  const left: number[] = []
  while (!isOver() || left.length > 0) {
    if (left.length === 0) left.push(1, 2, 3, 4, 5, 6)
    await setTimeout(500 + random() * 1_500)
    const [depth = 1] = left.splice(Math.floor(random() * left.length), 1)
    const transactions = random() < 0.5 ? 'replayed' : 'dropped'
    await gate.close(() => chain.reorg({ depth, transactions }))
  }
}

async function eventsById({ orders }: Shop) {
  const byId = new Map<string | undefined, OrderEvent['type'][]>()
  for (let after = 0n; ; ) {
    const { events, cursor } = await orders.events({ after, limit: 1_000 })
    if (events.length === 0) return byId
    for (const { orderId, type } of events)
      byId.set(orderId, [...(byId.get(orderId) ?? []), type])
    after = cursor
  }
}

/** Waits until nothing is open any more, on record and on its way. */
async function settle({ store }: Shop, sold: readonly Sold[]): Promise<void> {
  const ids = sold.map(({ id }) => id)
  await expect
    .poll(
      () =>
        store.read(async ({ orders, transactions, events }) => {
          const rows = await orders.find({ ids })
          const sent = await transactions.find({ orderIds: ids })
          const open = rows
            .filter(({ state }) => !/captured|expired/.test(state))
            .map(({ id, state, requested, reason, tries, sendDue }) => ({
              id,
              state,
              requested,
              reason,
              tries,
              sendDue,
              sent: sent.filter((row) => carries(row, id)),
            }))
          const told = await events.find({ orderIds: open.map(({ id }) => id) })
          return [
            ...open,
            ...told.map(({ type }) => type),
            ...sent.filter((row) => row.inFlight),
          ]
        }),
      { timeout: 60_000, interval: 300 },
    )
    .toEqual([])
}

/** Waits until nothing is wrong any more, or for as long as it may take. */
async function findLasting(shop: Shop, sold: readonly Sold[]) {
  await settle(shop, sold)
  for (let tries = 1; ; tries++) {
    const found = await findWrong(shop, sold)
    if (found.wrong.length === 0 || tries === 20) return found
    await setTimeout(1_000)
  }
}

/** Orders whose record is not what the chain shows, and losses nobody told. */
async function findWrong(shop: Shop, sold: readonly Sold[]) {
  const ids = sold.map(({ id }) => id)
  const rows = await shop.store.read(({ orders }) => orders.find({ ids }))
  const events = await eventsById(shop)
  const wrong: unknown[] = []
  for (const { id, payment, isLong } of sold) {
    const { status } = await getPaymentOutcome(client, { payment })
    const state = rows.find((row) => row.id === id)?.state
    const types = events.get(id) ?? []
    const times = (type: string) => types.filter((one) => one === type).length
    const isLost = times('fulfil') === 1 && state !== 'captured'
    const isRight =
      state === status &&
      times('fulfil') <= 1 &&
      times('lossAfterFulfilment') === (isLost ? 1 : 0) &&
      (!isLong || state === 'captured')
    if (!isRight) wrong.push({ id, status, state, types })
  }
  return { wrong, types: [...events.values()].flat() }
}

test.each([
  ['a plain account', false],
  ['an account that delegates', true],
])(
  `${count} captures of %s survive reorganizations 1 to 6 blocks deep, and what is lost is told [seed ${seed}]`,
  {
    timeout,
  },
  async (_, isDelegated) => {
    const random = startChance(3)
    const shop = await runShop({ isDelegated })
    const plans = Array.from({ length: count }, () => ({
      at: random() * duration,
      window: random() < 0.5 ? 300n : 4n + BigInt(Math.floor(random() * 5)),
    }))
    let isOver = false
    const reorganized = reorganize(random, () => isOver)
    const sold = await Promise.all(
      plans.map(async ({ at, window }) => {
        await setTimeout(at)
        return sell(shop, window)
      }),
    )
    isOver = true
    await reorganized

    const { wrong, types } = await findLasting(shop, sold)
    expect(wrong).toEqual([])
    expect(types).toContain('reorged')
    await shop.orders.reconcile()
    expect(await shop.orders.audit()).toMatchObject({
      ok: true,
      destinations: [{ differences: [] }],
    })
    const latest = await reader.getTransactionCount({ address: shop.seller })
    const account = { address: shop.seller } as typeof buyer
    expect(await countOf(chain, account)).toBe(latest)
  },
)

const isFulfilment = (type: OrderEvent['type']) => type === 'fulfil'

test(`captures that were fulfilled and are lost once their windows are over are each told [seed ${seed}]`, {
  timeout,
}, async () => {
  const shop = await runShop()
  const sold = await Promise.all(
    Array.from({ length: 10 }, () => sell(shop, 60n)),
  )
  await settle(shop, sold)
  const countFulfilled = async () =>
    [...(await eventsById(shop)).values()].flat().filter(isFulfilment).length
  await expect.poll(countFulfilled, { timeout: 60_000 }).toBe(10)
  await gate.close(() => chain.warp(100))
  const { number } = await reader.getBlock()
  const { orders } = await shop.orders.list({ limit: 100 })
  const oldest = orders
    .map(({ capture }) => Number(capture?.blockNumber))
    .reduce((one, other) => Math.min(one, other))
  const depth = Number(number) - oldest + 1
  // Played again they could land in a block from before the windows' end.
  await gate.close(() => chain.reorg({ depth, transactions: 'dropped' }))
  const { wrong, types } = await findLasting(shop, sold)
  expect(wrong).toEqual([])
  expect(types.filter((type) => type === 'lossAfterFulfilment')).toHaveLength(
    10,
  )
  await shop.orders.reconcile()
  expect((await shop.orders.audit()).ok).toBe(true)
})
