import type { DevChain } from 'countersign/devchain'
import {
  type CreateOrdersParameters,
  type Order,
  type Orders,
  toHledger,
} from 'countersign/orders'
import type { PaymentStore } from 'countersign/store'
import {
  type Address,
  formatUnits,
  type PrivateKeyAccount,
  parseAbiItem,
} from 'viem'
import { getLogs } from 'viem/actions'
import { expect, onTestFinished } from 'vitest'
import { countOf, fundedAccount } from './desk.js'
import { judgeJournal } from './hledger.js'
import { balanceOf } from './refundDesk.js'
import { storedOrder } from './shop.js'
import {
  countUses,
  findUsed,
  openSubscriptionShop,
  type SubscriptionShop,
} from './subscriptionShop.js'

const transfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

/** What the merchant's own systems remember, whatever the database does. */
type Memory = {
  sold: { id: string; buyer: Address }[]
  refunds: { orderId: string; refundId: string; amount: string }[]
  charges: string[]
}

/** Another amount than the schedule charges. */
const ownCharge = '2'

type LossProcess = SubscriptionShop & { end(): Promise<void> }

/**
 * One process of the merchant's, with a worker that runs until `end`, unless
 * its workers are processes of their own.
 */
async function startLossProcess(
  chain: DevChain,
  {
    store,
    account,
    apart,
  }: {
    store: PaymentStore
    account: PrivateKeyAccount
    apart?: Losing['apart']
  },
): Promise<LossProcess> {
  const shop = await openSubscriptionShop(chain, {
    store,
    account,
    changes: {
      ...(apart && { seal: apart.seal }),
      policy: {
        pollingInterval: 100,
        fulfilAt: 'included',
        lease: 1_000,
        // Minutes pass on the chain only.
        chainClock: apart ? 'own' : 'checked',
      },
    },
  })
  const stop = new AbortController()
  const { signal } = stop
  const running = apart
    ? Promise.resolve()
    : Promise.all([
        shop.orders.run({ signal }),
        shop.subscriptions.run({ signal }),
      ])
  let ended: Promise<void> | undefined
  const end = async () => {
    stop.abort()
    await running
    await shop.orders.close()
  }
  return {
    ...shop,
    end: () => {
      ended ??= end()
      return ended
    },
  }
}

/** One random deed of the merchant, through one of the processes. */
async function doSomething(
  chain: DevChain,
  { orders, subscriptions, ...shop }: LossProcess,
  {
    memory,
    random,
    subscriptionId,
  }: { memory: Memory; random: () => number; subscriptionId: string },
): Promise<void> {
  const draw = <item>(items: readonly item[]) =>
    items[Math.floor(random() * items.length)]
  const kind = Math.floor(random() * 5)
  const sold = draw(memory.sold)
  if (kind === 0 || !sold) {
    const open = { ...shop, orders }
    const { id, buyer } = await storedOrder(chain, open, { window: 3_600n })
    memory.sold.push({ id, buyer: buyer.address })
  } else if (kind === 1) {
    await orders.capture({ orderId: sold.id })
  } else if (kind === 2) {
    const chargeId = `own-${memory.charges.length}`
    memory.charges.push(chargeId)
    await subscriptions.charge({ subscriptionId, chargeId, amount: ownCharge })
  } else {
    const refund = {
      orderId: sold.id,
      refundId: `return-${memory.refunds.length}`,
      amount: String(1 + Math.floor(random() * 4)),
    }
    const verdict = await orders.refund(refund)
    if (verdict.ok) memory.refunds.push(refund)
  }
}

/** What moved between the recipient and an account, both ways. */
async function movesOf(chain: DevChain, from: Address, to: Address) {
  const ask = (args: { from: Address; to: Address }) =>
    getLogs(chain.clients.public, {
      address: chain.token,
      event: transfer,
      args,
      fromBlock: 0n,
    })
  const [paid, returned] = await Promise.all([
    ask({ from, to }),
    ask({ from: to, to: from }),
  ])
  return {
    paid: paid.length,
    returned: returned.map(({ args }) => args.value ?? 0n),
  }
}

/** What must hold once everything is quiet, whatever was lost. */
async function expectTrueRecord(
  chain: DevChain,
  shop: LossProcess,
  memory: Memory,
): Promise<void> {
  for (const { id, buyer } of memory.sold) {
    const { paid, returned } = await movesOf(chain, buyer, shop.seller)
    expect(paid, `payments of ${id}`).toBeLessThanOrEqual(1)
    const asked = memory.refunds.filter(({ orderId }) => orderId === id)
    const amounts = asked.map(({ amount }) => BigInt(amount) * 1_000_000n)
    const rest = [...amounts]
    for (const value of returned) {
      const at = rest.indexOf(value)
      expect(at, `a refund of ${value} for ${id} that was asked for`).not.toBe(
        -1,
      )
      rest.splice(at, 1)
    }
    const order = await find(shop.orders, id)
    if (!order) continue
    await expectTrueFinality(chain, order)
    const isCaptured = order.state === 'captured'
    expect({ id, paid: isCaptured ? 1 : 0 }).toEqual({ id, paid })
    const all = returned.reduce((sum, one) => sum + one, 0n)
    expect({ id, refunded: order.refunded }).toEqual({ id, refunded: all })
  }
  const audit = await shop.orders.audit()
  expect(audit.destinations[0]?.differences).toEqual([])
  const texts: string[] = []
  for await (const text of toHledger(shop.orders.ledger({ transfers: true })))
    texts.push(text)
  const { read, judged = read } = await judgeJournal(texts.join(''))
  expect(judged).toEqual(read)
  const asset = `assets:31337:${chain.token.toLowerCase()}:${shop.seller}`
  expect(read[asset]).toBe(formatUnits(await balanceOf(chain, shop.seller), 6))
}

/** What an order calls finalized is in a block that the chain calls finalized. */
async function expectTrueFinality(
  { clients: { public: reader } }: DevChain,
  { id, capture, refunds }: Order,
): Promise<void> {
  const { number } = await reader.getBlock({ blockTag: 'finalized' })
  for (const shown of [capture, ...refunds.map(({ transfer }) => transfer)]) {
    if (shown?.finality !== 'finalized') continue
    const { transactionHash: hash, blockNumber } = shown
    const receipt = await reader.getTransactionReceipt({ hash })
    const about = `finalized transaction ${hash} of ${id}`
    expect(receipt, about).toMatchObject({ status: 'success', blockNumber })
    expect(receipt.blockNumber <= number, about).toBe(true)
  }
}

/** An order, unless the database lost it. */
function find(orders: Orders, orderId: string) {
  return orders.get({ orderId }).catch((error: Error) => {
    if (error.name === 'OrderNotFoundError') return undefined
    throw error
  })
}

const patience = { timeout: 300_000 }

/** Two processes over one database, each with a worker. */
async function startBoth(
  chain: DevChain,
  {
    openStore,
    account,
    apart,
  }: Pick<Losing, 'openStore' | 'apart'> & { account: PrivateKeyAccount },
): Promise<LossProcess[]> {
  const both = await Promise.all(
    [1, 2].map(() =>
      startLossProcess(chain, { store: openStore(), account, apart }),
    ),
  )
  for (const { end } of both) onTestFinished(end)
  return both
}

const isOver = ({ state, transfer }: { state: string; transfer?: unknown }) =>
  ['failed', 'canceled'].includes(state) ||
  Object(transfer).finality === 'finalized'

/** Until nothing that was asked for is open any more. */
async function settleAll({ orders }: LossProcess, { sold }: Memory) {
  const open = async () => {
    const rows = await Promise.all(sold.map(({ id }) => find(orders, id)))
    return rows.flatMap((order) =>
      order &&
      ((order.state !== 'stored' && order.capture?.finality !== 'finalized') ||
        !order.refunds.every(isOver))
        ? [`${order.id} ${order.state} ${order.capture?.finality}`]
        : [],
    )
  }
  await expect.poll(open, patience).toEqual([])
}

/** The chain does not show the ids of refunds, so a lost one is not asked for again. */
async function hasRefund(
  { orders }: LossProcess,
  orderId: string,
  refundId: string,
): Promise<boolean> {
  const order = await find(orders, orderId)
  return order?.refunds.some((one) => one.refundId === refundId) === true
}

async function waitBlocks(chain: DevChain, blocks: bigint): Promise<void> {
  const { public: reader } = chain.clients
  const from = await reader.getBlockNumber({ cacheTime: 0 })
  await expect
    .poll(() => reader.getBlockNumber({ cacheTime: 0 }), patience)
    .toBeGreaterThan(from + blocks)
}

/** A database, and how it loses what is newer than what was kept. */
type Losing = {
  openStore: () => PaymentStore
  keep: () => Promise<void>
  lose: () => Promise<void>
  /** Workers that are processes of their own, and live through the loss. */
  apart?:
    | {
        account: PrivateKeyAccount
        seal: CreateOrdersParameters['seal']
        /** Starts two. */
        start(): Promise<void>
        /** Kills one, then calls `lose`; resolves when the other has ended. */
        loseUnder(lose: () => Promise<void>): Promise<void>
        /** Seconds that pass on the chain between `keep` and `lose`. */
        age: number
        /** Seconds of a period of the subscription. */
        period: bigint
      }
    | undefined
}

/**
 * Sells, captures, refunds and charges by two workers, has the database lose
 * the newest of it at a random moment, follows the guide, and asks for
 * everything again. Chain, record and books must then agree.
 */
export async function liveThroughLoss(
  chain: DevChain,
  random: () => number,
  { openStore, keep, lose, apart }: Losing,
): Promise<void> {
  const account = apart?.account ?? (await fundedAccount(chain, 1_000_000_000n))
  const before = await startBoth(chain, { openStore, account, apart })
  await apart?.start()
  const memory: Memory = { sold: [], refunds: [], charges: [] }
  const [first] = before
  if (!first) throw new Error('no process')
  const { id: subscriptionId } = await first.subscribe({
    amount: '1',
    allowance: '50',
    period: apart?.period ?? 100_000n,
  })
  const act = async (processes: LossProcess[], deeds: number, seconds = 0) => {
    for (let deed = 0; deed < deeds; deed++) {
      const process = processes[Math.floor(random() * 2)] ?? first
      await doSomething(chain, process, { memory, random, subscriptionId })
      if (seconds) await chain.warp(Math.ceil(seconds / deeds))
    }
  }
  await act(before, 6 + Math.floor(random() * 10))
  await keep()
  await act(before, 4 + Math.floor(random() * 10), apart?.age)
  await waitBlocks(chain, BigInt(Math.floor(random() * 8)))
  if (apart) await apart.loseUnder(lose)
  await Promise.all(before.map(({ end }) => end()))
  if (!apart) await lose()

  const after = await startBoth(chain, { openStore, account, apart })
  await apart?.start()
  const [shop] = after
  if (!shop) throw new Error('no process')
  expect(await shop.orders.health()).toMatchObject({ suspended: true })
  const sent = await countOf(chain, account)
  await waitBlocks(chain, 4n)
  expect(await countOf(chain, account)).toBe(sent)
  await shop.orders.reconcile()
  await shop.subscriptions.reconcile()
  await shop.orders.resume()
  // Whoever was not sure asks again, with the same ids.
  for (const { orderId, refundId, amount } of memory.refunds)
    if (await hasRefund(shop, orderId, refundId))
      await shop.orders.refund({ orderId, refundId, amount })
  const answers: string[] = []
  for (const chargeId of memory.charges) {
    const charge = { subscriptionId, chargeId, amount: ownCharge }
    const verdict = await shop.subscriptions.charge(charge)
    answers.push(verdict.ok ? verdict.order.state : verdict.reason)
  }
  for (const { id: orderId } of memory.sold)
    if (await find(shop.orders, orderId))
      await shop.orders.capture({ orderId, timeout: 300_000 })
  await settleAll(shop, memory)
  await expectTrueRecord(chain, shop, memory)
  const message = `the charges that were asked for again were ${answers.join(', ')}`
  const used = () => findUsed(chain, shop, subscriptionId)
  const countOwn = async () => (await used()).filter(isOwn).length
  await expect
    .poll(countOwn, { ...patience, message })
    .toBe(memory.charges.length)
  // The schedule's own charge, once in a period.
  const periods = (await used())
    .filter((charge) => !isOwn(charge))
    .map(({ periodStart }) => periodStart)
  expect(periods.length).toBeGreaterThan(0)
  expect(new Set(periods).size).toBe(periods.length)
}

const isOwn = ({ value }: { value: bigint }) => value === 2_000_000n

/** One of two databases for one recipient. */
type BesideAnother = {
  shop: LossProcess
  memory: Memory
  subscriptionId: string
}

/**
 * Two databases of which neither knows the other, for one recipient: each sells
 * and captures its own orders by a worker of its own, until all is settled.
 */
export async function liveBesideAnother(
  chain: DevChain,
  random: () => number,
  stores: readonly PaymentStore[],
): Promise<BesideAnother[]> {
  const account = await fundedAccount(chain, 1_000_000_000n)
  const sides = []
  for (const store of stores) {
    const shop = await startLossProcess(chain, { store, account })
    onTestFinished(shop.end)
    const memory: Memory = { sold: [], refunds: [], charges: [] }
    const { id: subscriptionId } = await shop.subscribe({
      amount: '1',
      allowance: '50',
      period: 100_000n,
    })
    sides.push({ shop, memory, subscriptionId })
  }
  for (let deed = 0; deed < 20; deed++) {
    const side = sides[Math.floor(random() * sides.length)]
    if (side) await doSomething(chain, side.shop, { ...side, random })
  }
  for (const { shop, memory, subscriptionId } of sides) {
    for (const { id: orderId } of memory.sold)
      await shop.orders.capture({ orderId, timeout: 300_000 })
    await settleAll(shop, memory)
    const uses = () => countUses(chain, shop, subscriptionId)
    await expect.poll(uses, patience).toBe(memory.charges.length + 1)
  }
  // Only now: what one side still sends changes the balance of both.
  for (const { shop, memory } of sides) {
    await shop.orders.reconcile()
    await expectTrueRecord(chain, shop, memory)
  }
  return sides
}
