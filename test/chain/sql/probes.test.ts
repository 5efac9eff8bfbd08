import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrders } from 'countersign/orders'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { postgresEngine } from '../../../src/sql/engines/postgresEngine.js'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { migrations } from '../../../src/sql/tables/migrations.js'
import type { Migration } from '../../../src/sql/tables/sqlEngine.js'
import { startDatabase } from '../support/database.js'
import { startTcpProxy } from '../support/tcpProxy.js'

const database = await startDatabase()
afterAll(() => database.stop())

/** A node that is away. */
const client = createClient({
  chain: base,
  account: privateKeyToAccount(`0x${'11'.repeat(32)}`),
  transport: custom(
    {
      request: async () => {
        throw new Error('away')
      },
    },
    { retryCount: 0 },
  ),
})

function open(store: PaymentStore) {
  const orders = createOrders({
    store,
    seal: 'none',
    tokens: [{ client, token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    wallets: [client],
  })
  onTestFinished(() => orders.close())
  return orders
}

const more: Migration = ({ integer }) => [
  `create table extra (id ${integer} primary key)`,
]
const newer = [...migrations, more]

const places: [
  string,
  () => Promise<[now: PaymentStore, next: PaymentStore]>,
][] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, 'orders.db')
      return [
        sqliteStore({ file }),
        createSqlStore(sqliteEngine({ file }), newer),
      ]
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const connectionString = await database.create('newer')
      return [
        postgresStore({ connectionString }),
        createSqlStore(postgresEngine({ connectionString }), newer),
      ]
    },
  ],
]

test.each(places)(
  'a process whose tables on %s were migrated by a newer release is neither live nor ready',
  async (_, openPlace) => {
    const [now, next] = await openPlace()
    const orders = open(now)
    expect(await orders.readiness()).toEqual({ ok: true })
    expect(await orders.liveness()).toEqual({ ok: true })
    await next.open()
    await next.close()
    const lost = { ok: false, reason: 'storeLost' }
    await expect.poll(orders.liveness).toEqual(lost)
    expect(await orders.readiness()).toEqual(lost)
  },
)

test('while PostgreSQL does not answer, a process is live and not ready; later it is ready by itself', async () => {
  const own = new URL(await database.create('silent'))
  const proxy = await startTcpProxy(own.href)
  const { port } = new URL(proxy.url)
  own.port = port
  const orders = open(postgresStore({ connectionString: own.href }))
  expect(await orders.readiness()).toEqual({ ok: true })
  proxy.freeze()
  proxy.mute(true)
  const unavailable = { ok: false, reason: 'storeUnavailable' }
  await expect.poll(orders.readiness).toEqual(unavailable)
  expect(await orders.liveness()).toEqual({ ok: true })
  proxy.mute(false)
  await expect.poll(orders.readiness).toEqual({ ok: true })
})
