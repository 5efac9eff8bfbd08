import { fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DevChain, startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { createClient, custom, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createContext } from '../src/orders/createContext.js'
import { openRefundSigner } from '../src/orders/sending/signRefunds.js'
import { watchChain } from '../src/orders/watcher/watchChain.js'
import { startDatabase } from '../test/chain/support/database.js'
import { nextMessage } from './childMessages.js'
import { median, type Row } from './compare.js'
import type { AuditCost, AuditPlace } from './ordersMillionAudit.js'
import {
  type FilledShop,
  fillPostgres,
  fillSqlite,
} from './ordersMillionFill.js'
import { makeFolder, makePayers, openShop, signOrders } from './ordersShop.js'
import { sized } from './sized.js'
import { type BenchServer, startMillionNode } from './startServer.js'

const few = sized(1_000, 200)
const rounds = sized(40, 1)

/** Blocks in which all orders were captured, many in each. */
const blocks = sized(7_000, 700)

/** Orders that are open, in both databases. */
const open = sized(200, 20)

/** A database that can be opened again. */
type Place = { address: string; store(): PaymentStore }

type Engine = {
  name: string
  create(name: string, shop: FilledShop): Promise<Place>
  stop(): Promise<void>
}

/** Two databases that are compared. */
type Sizes = {
  few: number
  orders: number
  /** Of these, how many are in the archive. */
  archived?: number
  /** Whether the audit of the larger one is measured, which takes minutes. */
  audits?: boolean
}

/** What each call takes among many orders in SQLite, beside few. */
export async function benchMillionSqlite(orders: number): Promise<Row[]> {
  const engine = await startSqlite()
  const sizes = { few, orders, audits: true }
  return measureEngine(engine, sizes).finally(engine.stop)
}

/** The same in PostgreSQL. */
export async function benchMillionPostgres(orders: number): Promise<Row[]> {
  const engine = await startPostgres()
  const sizes = { few, orders, audits: true }
  return measureEngine(engine, sizes).finally(engine.stop)
}

/** What each call takes in PostgreSQL beside a tenth of the orders. */
export async function benchGrowth(orders: number): Promise<Row[]> {
  const engine = await startPostgres()
  const sizes = { few: Math.ceil(orders / 10), orders }
  return measureEngine(engine, sizes).finally(engine.stop)
}

/** The same with nine in ten of them in the archive. */
export async function benchArchive(orders: number): Promise<Row[]> {
  const engine = await startPostgres()
  const few = Math.ceil(orders / 10)
  const sizes = { few, orders, archived: orders - few }
  return measureEngine(engine, sizes).finally(engine.stop)
}

async function startSqlite(): Promise<Engine> {
  const folder = makeFolder()
  return {
    name: 'SQLite',
    create: async (name, shop) => {
      const file = join(folder.path, `${name}.db`)
      const place = { address: file, store: () => sqliteStore({ file }) }
      await prepare(place)
      fillSqlite(file, shop)
      return place
    },
    stop: async () => folder.remove(),
  }
}

async function startPostgres(): Promise<Engine> {
  // All but the first speeds up the filling.
  const settings = [
    'shared_buffers=512MB',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_wal_size=8GB',
    'checkpoint_timeout=1h',
  ]
  const flags = settings.flatMap((setting) => ['-c', setting])
  const database = await startDatabase(flags)
  return {
    name: 'PostgreSQL',
    create: async (name, shop) => {
      const connectionString = await database.create(name)
      const store = () => postgresStore({ connectionString })
      const place = { address: connectionString, store }
      await prepare(place)
      await fillPostgres((text) => database.ask(text, name), shop)
      return place
    },
    stop: database.stop,
  }
}

async function prepare(place: Place): Promise<void> {
  const store = place.store()
  await store.open()
  await store.close()
}

async function measureEngine(
  engine: Engine,
  { few, orders, archived = 0, audits = false }: Sizes,
): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  const servers: BenchServer[] = []
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  await chain.clients.test.setBalance({ address, value: 10n ** 20n })
  await chain.clients.test.mine({ blocks: blocks + 100 })
  const { timestamp } = await chain.clients.public.getBlock()
  try {
    const sides = await Promise.all(
      [few, orders].map(async (count) => {
        const shop: FilledShop = {
          chainId: chain.chain.id,
          token: chain.token,
          recipient: address.toLowerCase(),
          orders: count,
          open,
          archived: count === orders ? archived : 0,
          perBlock: Math.ceil(count / blocks),
          now: Number(timestamp),
        }
        const place = await engine.create(`million${count}`, shop)
        const node = await startMillionNode(chain.urls.http, shop)
        servers.push(node)
        return { place, url: node.url, settled: count - open }
      }),
    )
    const [small, large] = sides
    if (!small || !large) throw new Error('Two databases are needed.')
    const name = `${orders} orders${archived ? `, ${archived} archived` : ''}, ${engine.name}`
    const times = await measureCalls(chain, { small, large, privateKey })
    const rows = callRows(name, few, times)
    if (!audits) return rows
    const cost = await auditApart(chain, { ...large, privateKey })
    return [...rows, ...auditRows(name, cost)]
  } finally {
    for (const server of servers) server.stop()
    await chain.stop()
  }
}

type Side = {
  place: Place
  url: string
  /** The first orders, which are not open. */
  settled: number
}

/** Milliseconds of each call, the medians of both sides. */
type CallTimes = Map<string, { small: number; large: number }>

async function measureCalls(
  chain: DevChain,
  { small, large, privateKey }: { small: Side; large: Side; privateKey: Hex },
): Promise<CallTimes> {
  const payers = await makePayers(chain, 20)
  const start = async ({ place, url, settled }: Side) => {
    const orders = openShop(chain, {
      url,
      store: place.store(),
      key: undefined,
      accounts: [privateKeyToAccount(privateKey)],
    })
    const look = startLooks(chain, { url, store: place.store(), privateKey })
    const signed = await signOrders(orders, payers, rounds + 2)
    return { orders, look, signed, settled }
  }
  const sides = [await start(small), await start(large)]
  const all = new Map<string, [number[], number[]]>()
  try {
    for (let round = -2; round < rounds; round++)
      for (const at of round % 2 ? [0, 1] : [1, 0]) {
        const side = sides[at]
        if (!side) continue
        for (const [name, call] of callsOf(side)) {
          const start = performance.now()
          await call()
          const time = performance.now() - start
          const times = all.get(name) ?? [[], []]
          if (round >= 0) times[at ? 1 : 0].push(time)
          all.set(name, times)
        }
      }
  } finally {
    for (const { orders, look } of sides) {
      await orders.close()
      await look.end()
    }
  }
  return new Map(
    [...all].map(([name, [one, other]]) => [
      name,
      { small: median(one), large: median(other) },
    ]),
  )
}

type Opened = {
  orders: Orders
  look: Awaited<ReturnType<typeof startLooks>>
  signed: Awaited<ReturnType<typeof signOrders>>
  settled: number
}

/** The calls of one round, each somewhere else in the database. */
function callsOf({
  orders,
  look,
  signed,
  settled,
}: Opened): [string, () => Promise<unknown>][] {
  const place = () => BigInt(Math.ceil(Math.random() * settled))
  const one = signed.pop()
  if (!one) throw new Error('No order is left to accept.')
  return [
    ['list', () => orders.list()],
    ['list, from the middle', () => orders.list({ before: place() })],
    ['list, captured', () => orders.list({ states: ['captured'] })],
    ['get', () => orders.get({ orderId: `order-${place()}` })],
    ['draft', () => orders.draft({ amount: '1' })],
    ['accept', () => orders.accept(one)],
    ['events', () => orders.events({ after: place() })],
    ['health', () => orders.health()],
    ['worker tick', () => look.once()],
  ]
}

/** Looks of a worker at its destination, a reconciliation in each. */
function startLooks(
  { chain, token }: DevChain,
  {
    url,
    store,
    privateKey,
  }: { url: string; store: PaymentStore; privateKey: Hex },
): { once(): Promise<unknown>; end(): Promise<void> } {
  const client = createReadClient({ url, chain })
  const account = privateKeyToAccount(privateKey)
  const context = createContext({
    store,
    seal: 'none',
    tokens: [{ client, token }],
    wallets: [createClient({ account, chain, transport: custom(client) })],
  })
  const [destination] = context.destinations
  if (!destination) throw new Error('There is no destination.')
  const { chainId } = destination
  const watcher = watchChain(context, chainId, {
    signer: openRefundSigner(context),
    reconcileEvery: 0,
  })
  return { once: watcher.look, end: store.close }
}

function callRows(name: string, few: number, times: CallTimes): Row[] {
  return [...times].map(([call, { small, large }]) => ({
    name: `${name}: ${call}, ${large.toFixed(1)} ms`,
    peer: `1.5 times that of ${few}, ${small.toFixed(1)} ms`,
    ratio: (1.5 * small) / large,
    goal: 1,
    unit: 'time',
    sides: { own: large, peer: small, unit: 'ms' },
  }))
}

async function auditApart(
  { chain, token }: DevChain,
  { place, url, privateKey }: Side & { privateKey: Hex },
): Promise<AuditCost> {
  const script = new URL('ordersMillionAudit.ts', import.meta.url)
  const child = fork(fileURLToPath(script))
  const { id, name, nativeCurrency, rpcUrls } = chain
  const told: AuditPlace = {
    dev: { chain: { id, name, nativeCurrency, rpcUrls }, token },
    url,
    database: place.address,
    privateKey,
  }
  child.send(told)
  // The child is our own: it reports what its file says.
  return (await nextMessage(child)) as AuditCost
}

function auditRows(name: string, cost: AuditCost): Row[] {
  const { ok, transfers, seconds, longest, computed, idle } = cost
  const { before, peak } = cost
  if (!ok) throw new Error(`The audit found differences in ${transfers}.`)
  return [
    {
      name: `${name}: audit of ${transfers} computes ${computed.toFixed(0)} ms at a time`,
      peer: 'limit of 50 ms',
      ratio: 50 / computed,
      goal: 1,
      unit: 'time',
    },
    {
      name: `${name}: audit, delay of the event loop`,
      peer: `${idle.toFixed(0)} ms while idle, by other processes`,
      ratio: longest,
      goal: 0,
      unit: 'ms',
    },
    {
      name: `${name}: audit, ${peak.toFixed(0)} MB`,
      peer: `${before.toFixed(0)} MB before it`,
      ratio: peak - before,
      goal: 0,
      unit: 'MB',
    },
    {
      name: `${name}: audit, transfers a second`,
      peer: `${seconds.toFixed(0)} s in all`,
      ratio: transfers / seconds,
      goal: 0,
      unit: '/s',
    },
  ]
}
