import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresStore, sqliteStore } from 'countersign/sql'
import { type PaymentStore, StoreError } from 'countersign/store'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawId } from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-attach-'))
let database: TestDatabase

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(async () => {
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** An empty database, its store, and ways around it. */
type Place = {
  store: PaymentStore
  attach(access: 'read' | 'write'): PaymentStore
  run(text: string): Promise<unknown>
  /** The rows of its tables that every store writes. */
  print(): Promise<string>
  /** What is in its file, if it is one. */
  bytes(): string | undefined
}

const tables = ['settings', 'leases', 'counters', 'versions']

const places: [string, () => Promise<Place>][] = [
  [
    'sqlite',
    async () => {
      const own = join(folder, drawId())
      const file = `${own}.db`
      const store = sqliteStore({ file })
      return {
        store,
        attach: (access) => attached(store, access),
        run: async (text) => {
          const sqlite = new Database(file)
          sqlite.exec(text)
          sqlite.close()
        },
        bytes: () =>
          createHash('sha256').update(readFileSync(file)).digest('hex'),
        print: async () => {
          const sqlite = new Database(file)
          const rows = tables.map((table) =>
            sqlite.prepare(`select * from ${table}`).all(),
          )
          sqlite.close()
          return JSON.stringify(rows)
        },
      }
    },
  ],
  [
    'postgres',
    async () => {
      const name = drawId()
      const connectionString = await database.create(name)
      const store = postgresStore({ connectionString })
      return {
        store,
        attach: (access) => attached(store, access),
        run: (text) =>
          database.ask(`set search_path to countersign; ${text}`, name, 'shop'),
        bytes: () => undefined,
        print: async () =>
          JSON.stringify(
            await Promise.all(
              tables.map((table) =>
                database.ask(
                  `select t::text from countersign.${table} t`,
                  name,
                  'shop',
                ),
              ),
            ),
          ),
      }
    },
  ],
]

function attached(store: PaymentStore, access: 'read' | 'write'): PaymentStore {
  const other = store.attach?.(access)
  if (!other) throw new Error('The store cannot be attached.')
  return other
}

test.each(places)(
  'a store of %s that is attached to read sees rows and changes nothing',
  async (_, open) => {
    const { store, attach, print, bytes } = await open()
    const { identity } = await store.open()
    await store.write((it) => it.setValue('watch', { at: 7 }))
    // A lease of a killed process, which the next `open` would remove.
    await store.takeLease({ key: 'dead', owner: 'dead', milliseconds: 1 })
    await store.close()
    const before = await print()
    const file = bytes()

    const reading = attach('read')
    expect(await reading.open()).toEqual({ identity })
    expect(await reading.read((it) => it.getValue('watch'))).toEqual({ at: 7 })
    for (const change of [
      () => reading.write((it) => it.setValue('watch', { at: 8 })),
      () => reading.takeLease({ key: 'a', owner: 'a', milliseconds: 1_000 }),
      () => reading.releaseLease({ key: 'a', owner: 'a', fence: 1n }),
    ])
      await expect(change()).rejects.toThrow(
        'The store was opened for reading only.',
      )
    await reading.close()
    expect(bytes()).toEqual(file)
    expect(await print()).toEqual(before)
  },
)

test.each(places)(
  'a store of %s that is attached to write writes to what is there',
  async (_, open) => {
    const { store, attach } = await open()
    await store.open()
    const writing = attach('write')
    await writing.write((it) => it.setValue('watch', { at: 8 }))
    await writing.close()
    expect(await store.read((it) => it.getValue('watch'))).toEqual({ at: 8 })
    await store.close()
  },
)

test.each(
  places.flatMap(([name, open]) => [
    [name, 'read', open] as const,
    [name, 'write', open] as const,
  ]),
)(
  'tables of %s of another version are refused to %s, and stay as they are',
  async (_, access, open) => {
    const { store, attach, run, print } = await open()
    await store.open()
    await store.close()
    await run('delete from versions')
    const before = await print()
    const older = attach(access)
    await expect(older.open()).rejects.toThrow(
      /^The store has tables of version 0, and this release needs version 3: use the release of your servers, or stop them and migrate\.$/,
    )
    await older.close()
    expect(await print()).toEqual(before)

    await run('insert into versions (version) values (99)')
    const newer = attach(access)
    await expect(newer.open()).rejects.toThrow(
      /has tables of version 99, but this release knows only/,
    )
    await newer.close()
  },
)

test.each(['read', 'write'] as const)(
  'a missing database is not created to %s',
  async (access) => {
    const file = join(folder, `${drawId()}.db`)
    const store = attached(sqliteStore({ file }), access)
    await expect(store.open()).rejects.toThrow(StoreError)
    await expect(store.open()).rejects.toThrow(
      `The store has no database yet: there is no file ${JSON.stringify(file)}; your server or a worker creates it when it starts.`,
    )
    expect(existsSync(file)).toBe(false)

    const name = drawId()
    const connectionString = await database.create(name)
    const empty = attached(postgresStore({ connectionString }), access)
    await expect(empty.open()).rejects.toThrow('has no tables yet')
    await empty.close()
    const schemas = `select 1 from pg_namespace where nspname = 'countersign'`
    expect(await database.ask(schemas, name)).toEqual([])
  },
)

test('a file whose path needs escapes is read', async () => {
  const file = join(folder, `a b%20c?#${drawId()}.db`)
  const store = sqliteStore({ file })
  await store.open()
  await store.close()
  const reading = attached(store, 'read')
  await expect(reading.open()).resolves.toHaveProperty('identity')
  await reading.close()
  expect(readdirSync(folder).filter((name) => name === 'a b')).toEqual([])
})
