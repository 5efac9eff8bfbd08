import { once } from 'node:events'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOrders, type Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import Database from 'libsql'
import {
  type Address,
  type Client,
  createClient,
  custom,
  type Hex,
  pad,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { watchStatements } from '../test/chain/support/watchStatements.js'
import { sendLast } from './childMessages.js'
import { median } from './compare.js'
import { type ShopPlace, type SignedOrder, signOrders } from './ordersShop.js'
import { sized } from './sized.js'

/** What a process is told: how many recipients its shop has, and where. */
export type RecipientsShop = {
  dev: Parameters<typeof import('./ordersShop.js').openShop>[0]
  url: ShopPlace['url']
  count: number
  file: string
  /** Keys of accounts with ether and with tokens. */
  seller: Hex
  payer: Hex
}

/** What a shop cost. */
export type RecipientsCost = {
  /** Milliseconds from `createOrders` to the end of the first look of `run`. */
  start: number
  /** Milliseconds of calls, the medians. */
  verbs: Record<string, number>
  /** A minute of a quiet worker. */
  statements: number
  calls: number
  requests: number
  /**
   * RPC calls a minute of a worker with an order in flight that no block
   * includes.
   */
  stuckCalls: number
  /** RPC calls of an order from `accept` to its capture in the next block. */
  captureCalls: number
  /** Milliseconds of CPU a second of a quiet worker. */
  cpu: number
  /** Megabytes of the process. */
  memory: number
}

/** Orders in the database. */
const numOrders = 200
const rounds = 15
const warmUps = 15
const minute = sized(60_000, 4_000)

const [told] = await once(process, 'message')
await sendLast(await measureShop(told))
process.exit()

async function measureShop(shop: RecipientsShop): Promise<RecipientsCost> {
  let statements = 0
  watchStatements((text) => {
    // Asks for a counter in memory, ten times a second.
    if (text !== 'pragma data_version') statements++
  })
  let calls = 0
  const { dev, url, count, file } = shop
  const node = createReadClient({ url, chain: dev.chain })
  const client = createClient({
    chain: dev.chain,
    transport: custom({
      request: (asked) => {
        calls++
        return node.request(asked)
      },
    }),
  })
  const account = privateKeyToAccount(shop.seller)
  const countRequests = async () => Number(await (await fetch(url)).text())
  const others = Array.from({ length: count - 1 }, (_, at) =>
    pad(toHex(at + 1), { size: 20, dir: 'right' }),
  )
  const open = () =>
    createOrders({
      store: sqliteStore({ file }),
      seal: 'none',
      tokens: [{ client, token: dev.token }],
      wallets: [
        createClient({ account, chain: dev.chain, transport: custom(client) }),
      ],
      recipients: others,
      policy: {
        // A development chain is never quiet by default.
        pollingInterval: sized(2_000, 500),
        quietInterval: sized(15_000, 1_000),
        // Wei: what is stuck stays so.
        maxFee: 10n ** 16n,
      },
    })
  const filling = open()
  const recipients = [account.address, ...others]
  const ids = await fill(filling, recipients)
  await filling.close()

  const begin = performance.now()
  const orders = open()
  const ending = new AbortController()
  const running = orders.run({ signal: ending.signal })
  await firstLook(file)
  const start = performance.now() - begin
  // The second look confirms the heads of the first.
  await sleep(sized(20_000, 2_000))
  const requests = await countRequests()
  const before = { statements, calls, cpu: process.cpuUsage() }
  await sleep(minute)
  const { user, system } = process.cpuUsage(before.cpu)
  const cost = {
    start,
    statements: statements - before.statements,
    calls: calls - before.calls,
    requests: (await countRequests()) - requests,
    cpu: (user + system) / 1000 / (minute / 1000),
  }
  globalThis.gc?.()
  const memory = process.memoryUsage().rss / 1e6
  const signed = await signOrders(
    orders,
    [privateKeyToAccount(shop.payer)],
    numOrders,
    { recipient: account.address },
  )
  // The worker learns how the blocks of the chain come.
  await captureSome(orders, signed.splice(0, 3))
  const idle = calls
  const captured = await captureSome(orders, signed)
  const captureCalls = (calls - idle) / captured
  const { done } = await stickOne(node, orders, signed.at(-1))
  const stuck = calls
  await sleep(minute)
  const stuckCalls = calls - stuck
  ending.abort()
  await running
  await done
  const verbs = await timeVerbs(orders, ids)
  await orders.close()
  return { ...cost, stuckCalls, captureCalls, memory, verbs }
}

/** Captures one order after another for half a minute. Returns their number. */
async function captureSome(
  orders: Orders,
  signed: readonly SignedOrder[],
): Promise<number> {
  const until = performance.now() + minute / 2
  let captured = 0
  for (const { orderId, payment } of signed) {
    await orders.accept({ orderId, payment })
    await orders.capture({ orderId })
    captured++
    if (performance.now() >= until) break
  }
  return captured
}

/** Sends an order whose fee is too low for all blocks of the next minutes. */
async function stickOne(
  { request }: Pick<Client, 'request'>,
  orders: Orders,
  one: SignedOrder | undefined,
): Promise<{ done: Promise<unknown> }> {
  if (!one) throw new Error('No order is left.')
  const { orderId, payment } = one
  await orders.accept({ orderId, payment })
  const done = orders.capture({ orderId }).catch(() => undefined)
  const isSent = async () =>
    (await orders.get({ orderId })).state === 'capturing'
  while (!(await isSent())) await sleep(5)
  await request({
    method: 'anvil_setNextBlockBaseFeePerGas',
    params: [toHex(10n ** 16n)],
  } as never)
  return { done }
}

/** Drafts orders of recipients all over the list. */
async function fill(
  orders: Orders,
  recipients: readonly Address[],
): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < numOrders; at++) {
    const place = Math.floor((at * recipients.length) / numOrders)
    const { order } = await orders.draft({
      amount: '1',
      primaryType: 'TransferWithAuthorization',
      recipient: recipients[place],
    })
    ids.push(order.id)
  }
  return ids
}

/** Waits until a look has written how far it has read. */
async function firstLook(file: string): Promise<void> {
  const database = new Database(file)
  const cursors = database.prepare(
    `select key from settings where key like 'cursor:%'
      and value like '%"block"%' limit 1`,
  )
  while (cursors.all().length === 0) await sleep(10)
  database.close()
}

async function timeVerbs(
  orders: Orders,
  ids: readonly string[],
): Promise<Record<string, number>> {
  const verbs: Record<string, () => Promise<unknown>> = {
    list: () => orders.list(),
    events: () => orders.events(),
    health: () => orders.health(),
    get: () => orders.get({ orderId: String(ids[ids.length >> 1]) }),
  }
  const times: Record<string, number> = {}
  for (const [name, call] of Object.entries(verbs)) {
    const all: number[] = []
    // The first rounds warm up code and caches.
    for (let round = -warmUps; round < rounds; round++) {
      const begin = performance.now()
      await call()
      if (round >= 0) all.push(performance.now() - begin)
    }
    times[name] = median(all)
  }
  return times
}
