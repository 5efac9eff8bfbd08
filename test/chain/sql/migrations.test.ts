import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PaymentStore, StoreError } from 'countersign/store'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresEngine } from '../../../src/sql/engines/postgresEngine.js'
import { sqliteEngine } from '../../../src/sql/engines/sqliteEngine.js'
import { createSqlStore } from '../../../src/sql/sqlStore.js'
import { migrations } from '../../../src/sql/tables/migrations.js'
import type { Migration, SqlEngine } from '../../../src/sql/tables/sqlEngine.js'
import { dumped } from '../../dumps/rows.js'
import { drawHash, drawId, sampleOrder } from '../../storeCases/samples.js'
import { startDatabase, type TestDatabase } from '../support/database.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
let database: TestDatabase

beforeAll(async () => {
  database = await startDatabase()
})

afterAll(async () => {
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** An empty database, its engines, and ways around them. */
type Place = {
  engine(): SqlEngine
  run(text: string): Promise<unknown>
  /** What its catalog says of tables, columns and indexes. */
  schema(): Promise<unknown>
}

const postgresSchema = `
  select table_name as "table", ordinal_position::text as place, concat_ws(' ',
    column_name, udt_name, numeric_precision, numeric_scale, collation_name,
    is_nullable, column_default, identity_generation) as is
  from information_schema.columns where table_schema = 'countersign'
  union all select tablename, indexname, indexdef
  from pg_indexes where schemaname = 'countersign' order by 1, 2, 3`

const places: [string, () => Promise<Place>][] = [
  [
    'sqlite',
    async () => {
      const file = join(folder, `${drawId()}.db`)
      return {
        engine: () => sqliteEngine({ file }),
        run: async (text) => {
          const sqlite = new Database(file)
          sqlite.exec(text)
          sqlite.close()
        },
        schema: async () => {
          const sqlite = new Database(file)
          const rows = sqlite
            .prepare('select name, sql from sqlite_schema order by name')
            .all()
          sqlite.close()
          return JSON.parse(JSON.stringify(rows).replace(/(\\n| )+/g, ' '))
        },
      }
    },
  ],
  [
    'postgres',
    async () => {
      const name = drawId()
      const connectionString = await database.create(name)
      return {
        engine: () => postgresEngine({ connectionString }),
        run: (text) => database.ask(text, name, 'shop'),
        schema: () => database.ask(postgresSchema, name, 'shop'),
      }
    },
  ],
]

async function placeOf(name: string): Promise<Place> {
  const [, place] = places.find(([one]) => one === name) ?? []
  if (!place) throw new Error(`no ${name}`)
  return place()
}

const { destination } = dumped
/** The dump of a version adds to the dumps of those before it. */
const readDump = (name: string, version = 1) =>
  readFileSync(`test/dumps/version${version}.${name}.sql`, 'utf8')

async function readAll(store: PaymentStore): Promise<unknown> {
  const orderIds = ['captured']
  return store.read(async (it) => ({
    orders: await it.orders.find({ listed: [destination], limit: 9 }),
    attempts: await it.attempts.find({ orderIds }),
    transactions: await it.transactions.find({ orderIds: ['drafted'] }),
    proofs: await it.proofs.find({ destinations: [destination], limit: 9 }),
    events: await it.events.find({
      destinations: [destination],
      after: 0n,
      limit: 9,
    }),
    watch: await it.getValue('watch'),
  }))
}

test.each(places)(
  'a dump of version 1 of %s opens, with every row as it was',
  async (name, place) => {
    const { engine, run } = await place()
    await run(readDump(name))
    const store = createSqlStore(engine())
    const version = 1
    expect(await readAll(store)).toEqual({
      orders: [
        { ...dumped.captured, version, position: 2n },
        { ...dumped.drafted, version, position: 1n },
      ],
      attempts: [{ ...dumped.attempt, version }],
      transactions: [{ ...dumped.transaction, version }],
      proofs: [{ ...dumped.proof, version }],
      events: [{ ...dumped.event, cursor: 1n }],
      watch: dumped.setting.watch,
    })
    const lease = { key: 'watch', owner: 'later', milliseconds: 1_000 }
    expect((await store.takeLease(lease))?.fence).toBeGreaterThan(1n)
    await store.write(async (it) => {
      await it.orders.insert([sampleOrder(destination, { id: 'next' })])
      await it.events.append([dumped.event])
    })
    const [next] = await store.read((it) => it.orders.find({ ids: ['next'] }))
    expect(next?.position).toBe(3n)
    const watched = { watched: [destination], limit: 9 }
    expect(await store.read((it) => it.channels.find(watched))).toEqual([])
    await store.write((it) => it.channels.insert([dumped.channel]))
    expect(await store.read((it) => it.channels.find(watched))).toEqual([
      { ...dumped.channel, version, position: 1n },
    ])
    await store.close()
  },
)

test.each(places)(
  'a dump of version 2 of %s opens, with its channel as it was',
  async (name, place) => {
    const { engine, run } = await place()
    await run(readDump(name))
    await run(readDump(name, 2))
    const store = createSqlStore(engine())
    const kept = { ...dumped.channel, version: 1, position: 1n }
    const ids = [dumped.channel.id]
    expect(await store.read((it) => it.channels.find({ ids }))).toEqual([kept])
    await store.write((it) =>
      it.channels.insert([{ ...dumped.channel, id: drawHash() }]),
    )
    const listed = { listed: [destination], limit: 1 }
    const [newest] = await store.read((it) => it.channels.find(listed))
    expect(newest?.position).toBe(2n)
    await store.close()
  },
)

test.each(places)(
  'a dump of version 3 of %s opens, with every row as it was, and an order in the archive',
  async (name, place) => {
    const [first, third] = [await place(), await place()]
    await first.run(readDump(name))
    for (const version of [1, 2, 3]) await third.run(readDump(name, version))
    const expected = createSqlStore(first.engine())
    const store = createSqlStore(third.engine())
    expect(await readAll(store)).toEqual(await readAll(expected))
    const ids = ['drafted']
    const find = () => store.read((it) => it.orders.find({ ids }))
    await store.write(async ({ orders }) => {
      const found = await orders.find({ ids })
      await orders.update(found.map((row) => ({ ...row, tries: 1 })))
    })
    expect(await find()).toMatchObject([{ id: 'drafted', version: 2 }])
    await store.close()
    await expected.close()
  },
)

test.each(places)(
  'the schema of a new database of %s equals its dumps, and so does that of a migrated one',
  async (name, place) => {
    const [created, restored] = [await place(), await place()]
    const migrated = await place()
    await migrated.run(readDump(name))
    for (const { engine } of [created, migrated]) {
      const store = createSqlStore(engine())
      await store.open()
      await store.close()
    }
    for (const version of [1, 2, 3]) await restored.run(readDump(name, version))
    const schema = await restored.schema()
    expect(await created.schema()).toEqual(schema)
    expect(await migrated.schema()).toEqual(schema)
  },
)

test.each(places)(
  'a database of %s from before the first release is refused, and stays as it is',
  async (name, place) => {
    const { engine, run, schema } = await place()
    await run(readDump(name).replaceAll(/\bversions\b/g, 'migrations'))
    const before = await schema()
    const refusal =
      'The store has tables from before the first release, with a table migrations: use a new database.'
    const store = createSqlStore(engine())
    await expect(store.open()).rejects.toThrow(refusal)
    await expect(store.read((it) => it.getValue('watch'))).rejects.toThrow(
      refusal,
    )
    await store.close()
    expect(await schema()).toEqual(before)
  },
)

/** A step that changes orders changes those in the archive, too. */
const inBoth = (change: (table: string) => string) =>
  ['orders', 'archived_orders'].map(change)

const step2: Migration = ({ integer }) => [
  ...inBoth(
    (table) =>
      `alter table ${table} add column looks ${integer} not null default 0`,
  ),
  'update orders set looks = tries + 1',
]
const step3: Migration = () =>
  inBoth((table) => `alter table ${table} rename looks to glances`)

test.each(places)(
  'a database of %s is led through every step it lacks, once',
  async (name, place) => {
    const { engine, run } = await place()
    await run(readDump(name))
    const second = createSqlStore(engine(), [...migrations, step2])
    await second.open()
    await second.close()
    const third = createSqlStore(engine(), [...migrations, step2, step3])
    await third.open()
    await third.close()
    const again = createSqlStore(engine(), [...migrations, step2, step3])
    await again.open()
    expect(await again.read((it) => it.orders.count([destination]))).toEqual({
      captured: 1,
      drafted: 1,
    })
    await again.close()
    const schema = name === 'postgres' ? 'countersign.' : ''
    await run(`update ${schema}orders set glances = glances`)
    await expect(run(`update ${schema}orders set looks = 0`)).rejects.toThrow(
      /looks/,
    )
  },
)

test.each(places)(
  'a step that fails leaves %s at the version it had',
  async (_, place) => {
    const { engine } = await place()
    const first = createSqlStore(engine())
    await first.open()
    await first.close()
    const wrong: Migration = () => ['create table extra (id text)', 'nonsense']
    const broken = createSqlStore(engine(), [...migrations, wrong])
    await expect(broken.open()).rejects.toThrow(StoreError)
    await broken.close()
    const right: Migration = () => ['create table extra (id text)']
    const mended = createSqlStore(engine(), [...migrations, right])
    await mended.open()
    await mended.close()
  },
)

test.each(places)(
  'a database of %s that a newer release has led on is refused',
  async (_, place) => {
    const { engine } = await place()
    const newer = createSqlStore(engine(), [...migrations, step2])
    await newer.open()
    await newer.close()
    const older = createSqlStore(engine())
    await expect(older.open()).rejects.toThrow(
      `The store has tables of version ${migrations.length + 1}, but this release knows only ${migrations.length}: use the newer release that created them.`,
    )
    await older.close()
  },
)

test.each(places)(
  'an old process that still runs on %s writes nothing once a newer release has led it on',
  async (_, place) => {
    const { engine } = await place()
    const older = createSqlStore(engine())
    const insert = (store: PaymentStore, id: string) =>
      store.write((it) => it.orders.insert([sampleOrder(destination, { id })]))
    await insert(older, 'early')
    const mine = { key: 'a', owner: 'old', milliseconds: 60_000 }
    const lease = await older.takeLease(mine)
    if (!lease) throw new Error('no lease')
    const newer = createSqlStore(engine(), [...migrations, step2, step3])
    await newer.open()
    await insert(newer, 'new')
    for (const write of [
      () => insert(older, 'late'),
      () => older.write((it) => it.setValue('late', {}), { lease }),
      () => older.write(async () => undefined),
      () => older.takeLease(mine),
      () => older.takeLease({ ...mine, key: 'b' }),
      () => older.releaseLease(lease),
    ])
      await expect(write()).rejects.toMatchObject({
        name: 'StoreError',
        message: `The store has tables of version ${migrations.length + 2}, but this release knows only ${migrations.length}: use the newer release that created them.`,
        retryable: false,
      })
    const ids = ['early', 'late', 'new']
    const kept = await newer.read(async (it) => ({
      ids: (await it.orders.find({ ids })).map(({ id }) => id).sort(),
      value: await it.getValue('late'),
    }))
    expect(kept).toEqual({ ids: ['early', 'new'], value: undefined })
    expect(await newer.takeLease({ ...mine, key: 'b' })).toBeDefined()
    expect(await newer.takeLease({ ...mine, owner: 'new' })).toBeUndefined()
    await older.close()
    await newer.close()
  },
)

test('a step waits for what an old process is writing to PostgreSQL, and nothing is written after it', async () => {
  const { engine } = await placeOf('postgres')
  const older = createSqlStore(engine())
  await older.open()
  const newer = createSqlStore(engine(), [...migrations, step2])
  let opening: Promise<unknown> | undefined
  let isOpen = false
  await older.write(async (it) => {
    opening = newer.open().then(() => {
      isOpen = true
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(isOpen).toBe(false)
    await it.orders.insert([sampleOrder(destination, { id: 'last' })])
  })
  await opening
  expect(await newer.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
  await older.close()
  await newer.close()
})

const drop: Migration = () => ['alter table orders rename needs_review to held']

test.each(places)(
  'an old process takes no column of %s that a newer release took away for an empty one',
  async (_, place) => {
    const { engine } = await place()
    const older = createSqlStore(engine())
    const row = sampleOrder(destination, { id: 'old', needsReview: true })
    await older.write((it) => it.orders.insert([row]))
    const newer = createSqlStore(engine(), [...migrations, drop])
    await newer.open()
    await expect(
      older.read((it) => it.orders.find({ ids: ['old'] })),
    ).rejects.toThrow(
      'The store has no column needs_review in its table orders, as after a newer release migrated it: restart this process with that release.',
    )
    await older.close()
    await newer.close()
  },
)

test.each(places)(
  'many that open an empty database of %s at once find one set of tables',
  async (_, place) => {
    const { engine } = await place()
    const stores = Array.from({ length: 5 }, () => createSqlStore(engine()))
    const opened = await Promise.all(stores.map((store) => store.open()))
    expect(new Set(opened.map(({ identity }) => identity)).size).toBe(1)
    await Promise.all(stores.map((store) => store.close()))
  },
)
