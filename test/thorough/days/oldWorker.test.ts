// The first time, an old worker that was running went on capturing in the newer
// tables, and one that started later was refused seven times in 8 s without end.
import { startDevChain } from 'countersign/devchain'
import Database from 'libsql'
import type { Address } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { postgresEngine } from '../../../src/sql/engines/postgresEngine.js'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { migrations } from '../../../src/sql/tables/migrations.js'
import type { Migration } from '../../../src/sql/tables/sqlEngine.js'
import { sqliteFile } from '../../chain/support/chaos.js'
import { startDatabase } from '../../chain/support/database.js'
import { countOf } from '../../chain/support/desk.js'
import { findBookProblems } from '../../chain/support/hardTimes.js'
import { storedOrder } from '../../chain/support/shop.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { openShop, type Shop } from '../../kills/openShop.js'
import type { Engine, ShopPlan } from '../../kills/plan.js'
import { type Child, startChild } from '../../kills/runChild.js'
import { setStage } from '../../kills/stage.js'

const [chain, database, worker] = await Promise.all([
  startDevChain({ blockTime: 0.3, epochBlocks: 1 }),
  startDatabase(),
  bundleWorker('worker'),
])
afterAll(async () => {
  worker.remove()
  await Promise.all([chain.stop(), database.stop()])
})

const patience = { timeout: 300_000 }

/** A database, and all that its tables hold, as text. */
type Place = { engine: Engine; print(): Promise<string> }

const schema = 'shop'

const places: [string, () => Promise<Place>][] = [
  [
    'SQLite',
    async () => {
      const { file } = sqliteFile()
      return { engine: { sqlite: file }, print: async () => printSqlite(file) }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const name = `old${Date.now()}`
      const postgres = await database.create(name)
      return {
        engine: { postgres, schema },
        print: () => printPostgres(name),
      }
    },
  ],
]

function printSqlite(file: string): string {
  const sqlite = new Database(file)
  const tables = sqlite
    .prepare(`select name from sqlite_schema where type = 'table'`)
    .all() as { name: string }[]
  const rows = tables.map(({ name }) => [
    name,
    sqlite.prepare(`select * from ${name}`).all(),
  ])
  sqlite.close()
  return JSON.stringify(rows)
}

async function printPostgres(name: string): Promise<string> {
  const tables = await database.ask(
    `select tablename from pg_tables where schemaname = '${schema}' order by 1`,
    name,
  )
  const rows = tables.map(async ({ tablename }) => [
    tablename,
    await database.ask(
      `select t::text from ${schema}.${tablename} t order by 1`,
      name,
    ),
  ])
  return JSON.stringify(await Promise.all(rows))
}

const add: Migration = ({ integer }) => [
  ...['orders', 'archived_orders'].map(
    (table) =>
      `alter table ${table} add column looks ${integer} not null default 0`,
  ),
  `create table extra (id ${integer} primary key)`,
]

/** Opens the tables as a newer release does, whose schema has a further step. */
function openNewer(plan: ShopPlan): Shop {
  const { engine } = plan
  const opened =
    'sqlite' in engine
      ? sqliteEngine({ file: engine.sqlite })
      : postgresEngine({
          connectionString: engine.postgres,
          schema: engine.schema,
        })
  const store = createSqlStore(opened, [...migrations, add])
  const shop = openShop(plan, { store: () => store })
  onTestFinished(() => shop.orders.close())
  return shop
}

/** A merchant with a server and a worker of the old release; the worker has captured. */
async function startOld(engine: Engine) {
  const { plan, recipient } = await setStage(chain, {
    engine,
    account: 'local',
    lease: 1_000,
    flow: 'work',
    orders: 2,
  })
  const old = openShop(plan)
  onTestFinished(() => old.orders.close())
  const start = () => {
    const child = startChild(worker.file, plan)
    onTestFinished(() => child.kill('SIGKILL'))
    return child
  }
  const child = start()
  await expectCaptured(old, plan.orderIds)
  const seller = recipient.address.toLowerCase() as Address
  const sell = ({ orders, store }: Shop) =>
    storedOrder(chain, { orders, store, seller }).then(({ id }) => id)
  return { plan, recipient, old, child, start, sell }
}

async function expectCaptured(
  { orders }: Shop,
  ids: readonly string[],
): Promise<void> {
  for (const orderId of ids)
    await expect
      .poll(async () => (await orders.get({ orderId })).state, patience)
      .toBe('captured')
}

const known = migrations.length
const newer = `The store has tables of version ${known + 1}, but this release knows only ${known}: use the newer release that created them.`

/** Without being told to, with the error that a supervisor then logs. */
async function expectEndsBy(child: Child): Promise<void> {
  const { code, problem } = await child.ended
  expect(code).toBe(1)
  expect(problem).toContain(newer)
  expect(problem).toContain('retryable: false')
}

/** Runs a worker of the newer release until the test ends. */
function runNewer({ orders }: Shop): void {
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
  })
}

/** Each captured order took one transaction, and the books show each. */
async function expectTrueBooks(
  { orders }: Shop,
  recipient: Parameters<typeof countOf>[1],
): Promise<void> {
  const listed = await orders.list({ limit: 100, states: ['captured'] })
  expect(await countOf(chain, recipient)).toBe(listed.orders.length)
  await orders.reconcile()
  expect(await orders.audit()).toMatchObject({
    ok: true,
    destinations: [{ captured: { count: listed.orders.length } }],
  })
  expect(await findBookProblems(chain, orders)).toEqual([])
}

test.each(places)(
  'an old worker that runs while a newer release migrates %s ends with a typed error and writes nothing more, and nothing is captured twice',
  async (_, place) => {
    const { engine, print } = await place()
    const { plan, recipient, old, child, start, sell } = await startOld(engine)
    const next = openNewer(plan)
    const sold = await Promise.all([
      ...[1, 2, 3].map(() => sell(old).catch((error: unknown) => error)),
      next.store.open(),
    ])
    await expectEndsBy(child)
    const before = await print()
    const [orderId = ''] = plan.orderIds
    for (const write of [
      () => sell(old),
      () => old.orders.draft({ amount: '1' }),
      () => old.orders.refund({ orderId, refundId: 'a' }),
    ])
      await expect(write()).rejects.toMatchObject({
        name: 'StoreError',
        message: newer,
        retryable: false,
      })
    await expectEndsBy(start())
    expect(await print()).toBe(before)

    runNewer(next)
    const confirmed = sold.filter((end) => typeof end === 'string')
    const late = [await sell(next), await sell(next)]
    await expectCaptured(next, [...confirmed, ...late])
    await expectTrueBooks(next, recipient)
  },
)
