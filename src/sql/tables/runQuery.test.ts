import { type CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import { expect, test } from 'vitest'
import { sqliteDialect } from '../engines/sqliteDialect.js'
import { type QueryPlace, runQuery, type Slot } from './runQuery.js'
import type { SqlTables } from './sqlTables.js'

type Ran = { text: string; values: unknown }

/** Returns a database that records the statements it runs. */
function openPlace(): { place: QueryPlace; ran: Ran[] } {
  const ran: Ran[] = []
  const dialect = new SqliteDialect({
    database: {
      prepare: (text) => ({
        reader: true,
        all: (values) => {
          ran.push({ text, values })
          return []
        },
        run: () => ({ changes: 0, lastInsertRowid: 0 }),
        iterate: () => [].values(),
      }),
      close: () => undefined,
    },
  })
  const session = new Kysely<SqlTables>({ dialect })
  return { place: { session, dialect: { ...sqliteDialect } }, ran }
}

type Values = { key: string; expires: bigint }

/** Returns a query builder that counts how often it is called. */
function countedLeases() {
  const counted = { builds: 0 }
  const build = (
    { session }: QueryPlace,
    { sorted }: { sorted: boolean },
    slot: Slot<Values>,
  ): CompiledQuery<object> => {
    counted.builds++
    return session
      .selectFrom('leases')
      .select('owner')
      .where('expires', '>', slot('expires'))
      .where('key', '=', slot('key'))
      .where('owner', '<>', slot('key'))
      .$if(sorted, (query) => query.orderBy('key'))
      .limit(7n)
      .compile()
  }
  return { build, counted }
}

const values = { key: 'lease', expires: 5n }

test('a query is built once for each shape, and takes its values each time', async () => {
  const { place, ran } = openPlace()
  const { build, counted } = countedLeases()
  const shape = { sorted: false }
  await runQuery(place, build, { shape, values })
  await runQuery(place, build, { shape, values: { key: 'other', expires: 9n } })
  expect(counted.builds).toBe(1)
  expect(new Set(ran.map(({ text }) => text)).size).toBe(1)
  expect(ran.map((one) => one.values)).toEqual([
    [5n, 'lease', 'lease', 7n],
    [9n, 'other', 'other', 7n],
  ])
  await runQuery(place, build, { shape: { sorted: true }, values })
  expect(counted.builds).toBe(2)
  expect(ran.at(-1)?.text).toContain('order by "key"')
})

test('each dialect has texts of its own', async () => {
  const { build, counted } = countedLeases()
  const shape = { sorted: false }
  for (const { place } of [openPlace(), openPlace()])
    await runQuery(place, build, { shape, values })
  expect(counted.builds).toBe(2)
})

test('a builder keeps a limited number of texts', async () => {
  const { place } = openPlace()
  const { build, counted } = countedLeases()
  const run = (more: number) =>
    runQuery(place, build, {
      shape: Object.assign({ sorted: false }, { more }),
      values,
    })
  for (let more = 0; more < 250; more++) await run(more)
  await run(0)
  expect(counted.builds).toBe(251)
})
