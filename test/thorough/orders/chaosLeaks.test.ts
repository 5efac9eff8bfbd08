import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SignedCancellation } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { postgresStore } from 'countersign/sql'
import { type PaymentStore, sealer } from 'countersign/store'
import Database from 'libsql'
import type { Hex } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sqliteFile } from '../../chain/support/chaos.js'
import {
  startDatabase,
  type TestDatabase,
} from '../../chain/support/database.js'
import { revoke } from '../../chain/support/desk.js'
import { findSecrets, secretForms } from '../../chain/support/secretForms.js'
import { openShop, storedOrder } from '../../chain/support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const seal = () =>
  sealer({
    keys: { test: crypto.getRandomValues(new Uint8Array(32)) },
    current: 'test',
  })

/** Lets orders go every way they can, and hands all that was signed. */
async function liveLives(
  store: PaymentStore,
  changes: Parameters<typeof openShop>[1] = {},
): Promise<Hex[]> {
  const policy = { relayCancellations: 'always' } as const
  const parts = { store, seal: seal(), policy, ...changes }
  const shop = await openShop(chain, parts)
  const { orders } = shop
  const sold = await Promise.all(
    Array.from({ length: 5 }, () => storedOrder(chain, shop)),
  )
  const cancellations: SignedCancellation[] = []
  for (const { signed, buyer } of sold)
    cancellations.push(await revoke(chain, signed, buyer))
  const [captured, canceled, voided, late] = sold.map(({ id }) => id)
  await orders.capture({ orderId: captured ?? '' })
  await orders.void({ orderId: voided ?? '' })
  for (const [at, orderId] of [canceled, voided, late].entries()) {
    const cancellation = cancellations[at + 1]
    if (cancellation)
      await orders.acceptCancellation({ orderId: orderId ?? '', cancellation })
  }
  // Drives the submitter until the cancellation is sent.
  expect(await orders.capture({ orderId: canceled ?? '' })).toMatchObject({
    order: { state: 'canceled' },
  })
  const signed = sold.map((one) => one.signed)
  return [...signed, ...cancellations].map(({ signature }) => signature)
}

const formsOf = (signatures: readonly Hex[]) => signatures.flatMap(secretForms)

/** What shows in these files, as far as they are there. */
function searchFiles(files: readonly string[], signatures: readonly Hex[]) {
  const forms = formsOf(signatures)
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) =>
      findSecrets(readFileSync(file), forms).map((name) => `${file}: ${name}`),
    )
}

const sqliteFiles = (file: string) =>
  ['', '-wal', '-shm'].map((ending) => file + ending)

/** All rows of all tables, as a backup writes them down. */
function dumpSqlite(file: string): Buffer {
  const database = new Database(file)
  const tables = database
    .prepare(`select name from sqlite_master where type = 'table'`)
    .all() as { name: string }[]
  const rows = tables.map(({ name }) =>
    database.prepare(`select * from "${name}"`).all(),
  )
  database.close()
  return Buffer.from(JSON.stringify(rows.flat(), showBytes))
}

/** Bytes as hex and as base64, and the text that some of them are. */
function showBytes(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  const { type, data } = Object(value)
  if (type !== 'Buffer') return value
  const bytes = Buffer.from(data)
  return [bytes.toString('hex'), bytes.toString('base64'), String(bytes)]
}

test('no file of a SQLite database shows a signature, nor does a dump of it', async () => {
  const { file, store } = sqliteFile()
  const signatures = await liveLives(store)
  expect(existsSync(`${file}-wal`)).toBe(true)
  expect(searchFiles(sqliteFiles(file), signatures)).toEqual([])
  const dump = dumpSqlite(file)
  expect(String(dump)).toContain('test 1 ')
  expect(findSecrets(dump, formsOf(signatures))).toEqual([])
})

test('without a seal the same search finds every signature', async () => {
  const { file, store } = sqliteFile()
  const signatures = await liveLives(store, { seal: 'none' })
  const dump = dumpSqlite(file)
  // The five payments; the merchant was not told of every cancellation.
  for (const signature of signatures.slice(0, 5)) {
    expect(searchFiles(sqliteFiles(file), [signature])).not.toEqual([])
    expect(findSecrets(dump, secretForms(signature))).not.toEqual([])
  }
})

test('a signature is found in whatever place and spelling', () => {
  const signature: Hex = `0x${'1b2c3d4e5f60718293a4b5c6d7e8f901'.repeat(4)}1b`
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const padded = Buffer.concat([Buffer.from('at'), bytes, Buffer.from('end')])
  const spellings = [
    padded,
    ...(['hex', 'base64', 'base64url'] as const).flatMap((encoding) =>
      [0, 1, 2].map((start) =>
        Buffer.from(padded.subarray(start).toString(encoding)),
      ),
    ),
    Buffer.from(bytes.toString('hex').toUpperCase()),
  ]
  for (const spelling of spellings) {
    const found = findSecrets(spelling, secretForms(signature))
    expect(found.some((name) => name.startsWith('r'))).toBe(true)
    expect(found.some((name) => name.startsWith('s'))).toBe(true)
  }
  expect(findSecrets(Buffer.alloc(9_999), secretForms(signature))).toEqual([])
})

/** Everything under a folder, however deep. */
const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())

async function dumpPostgres({ ask }: TestDatabase, name: string) {
  const tables = await ask(
    `select format('%I.%I', table_schema, table_name) as name
    from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema')`,
    name,
  )
  const rows: unknown[] = []
  for (const table of tables)
    rows.push(...(await ask(`select * from ${table.name}`, name)))
  return Buffer.from(JSON.stringify(rows, showBytes))
}

test('no file of a PostgreSQL server shows a signature, nor does a dump of it', async () => {
  const database = await startDatabase()
  onTestFinished(() => database.stop())
  const connectionString = await database.create('leaks')
  const store = postgresStore({ connectionString })
  const signatures = await liveLives(store)
  await store.close()
  await database.ask('checkpoint')
  const [setting] = await database.ask('show data_directory')
  const folder = String(setting?.data_directory)
  const files = filesUnder(folder)
  expect(files.some((file) => file.includes('pg_wal'))).toBe(true)
  expect(searchFiles(files, signatures)).toEqual([])
  const dump = await dumpPostgres(database, 'leaks')
  expect(String(dump)).toContain('test 1 ')
  expect(findSecrets(dump, formsOf(signatures))).toEqual([])
})
