import { startDevChain } from 'countersign/devchain'
import { StoreError } from 'countersign/store'
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

const places: [string, () => Promise<Engine>][] = [
  ['SQLite', async () => ({ sqlite: sqliteFile().file })],
  [
    'PostgreSQL',
    async () => ({
      postgres: await database.create(`old${Date.now()}`),
      schema: 'shop',
    }),
  ],
]

const add: Migration = ({ integer }) => [
  `alter table orders add column looks ${integer} not null default 0`,
  `create table extra (id ${integer} primary key)`,
]
const takeAway: Migration = () => [
  'alter table orders rename needs_review to held',
]
const giveBack: Migration = () => [
  'alter table orders rename held to needs_review',
]

/** Opens the tables as a newer release does, whose schema has further steps. */
function openNewer(plan: ShopPlan, steps: readonly Migration[]): Shop {
  const { engine } = plan
  const opened =
    'sqlite' in engine
      ? sqliteEngine({ file: engine.sqlite })
      : postgresEngine({
          connectionString: engine.postgres,
          schema: engine.schema,
        })
  const store = createSqlStore(opened, [...migrations, ...steps])
  const shop = openShop(plan, { store: () => store })
  onTestFinished(() => shop.orders.close())
  return shop
}

/** A merchant whose old worker is a process of its own, and has captured. */
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
  const child = startChild(worker.file, plan)
  onTestFinished(() => child.kill('SIGKILL'))
  await expectCaptured(old, plan.orderIds)
  const seller = recipient.address.toLowerCase() as Address
  const sell = ({ orders, store }: Shop) =>
    storedOrder(chain, { orders, store, seller }).then(({ id }) => id)
  return { plan, recipient, old, child, sell }
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

/** Has an old worker end as a deployment does. */
async function endOld(child: Child): Promise<void> {
  child.kill('SIGTERM')
  expect(await child.ended).toMatchObject({ code: 0, signal: null })
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
  'an old worker goes on beside a newer release that only added to %s, and nothing is captured twice',
  async (_, place) => {
    const { plan, recipient, old, child, sell } = await startOld(await place())
    const newer = openNewer(plan, [add])
    const [, ...early] = await Promise.all([
      newer.store.open(),
      sell(old),
      sell(old),
    ])
    const late = [await sell(old), await sell(old)]
    await expectCaptured(newer, [...early, ...late])
    await expect(openShop(plan).orders.list()).rejects.toThrow(
      /^The store has tables of version \d+, but this release knows only \d+/,
    )
    runNewer(newer)
    const mixed = [await sell(old), await sell(newer), await sell(old)]
    await expectCaptured(newer, mixed)
    await endOld(child)
    const last = await sell(newer)
    await expectCaptured(newer, [last])
    await expectTrueBooks(newer, recipient)
  },
)

test.each(places)(
  'an old worker confirms nothing once a newer release took a column of %s away, and nothing is captured twice',
  async (_, place) => {
    const { plan, recipient, old, child, sell } = await startOld(await place())
    const newer = openNewer(plan, [takeAway])
    const [, ...early] = await Promise.all([
      newer.store.open(),
      ...[1, 2, 3].map(() => sell(old).catch((error: unknown) => error)),
    ])
    for (const end of early)
      if (typeof end !== 'string') expect(end).toBeInstanceOf(StoreError)
    await expect(sell(old)).rejects.toBeInstanceOf(StoreError)
    const [orderId = ''] = plan.orderIds
    for (const call of [
      () => old.orders.list(),
      () => old.orders.get({ orderId }),
      () => old.orders.void({ orderId }),
    ])
      await expect(call()).rejects.toBeInstanceOf(StoreError)
    await endOld(child)

    const next = openNewer(plan, [takeAway, giveBack])
    runNewer(next)
    const late = [await sell(next), await sell(next)]
    const confirmed = early.filter((end) => typeof end === 'string')
    await expectCaptured(next, [...confirmed, ...late])
    await expectTrueBooks(next, recipient)
  },
)
