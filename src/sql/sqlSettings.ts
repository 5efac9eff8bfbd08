import { sql } from 'kysely'
import { StoreError } from '../store/errors.js'
import type { StoredValue, StoreWriter } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import type { SqlUnit } from './sqlUnit.js'
import { beginsWith } from './tables/beginsWith.js'
import type { QueryPlace } from './tables/runQuery.js'
import { SqlFault } from './tables/sqlFault.js'

/**
 * Reads and writes settings inside one transaction. `flush` writes together all
 * settings that the transaction set without reading them.
 *
 * If the transaction has read a setting, `setValue` replaces it only if nobody
 * has changed it since. If somebody has, the transaction runs again. Readers
 * never block each other.
 */
export function sqlSettings(
  finder: Finder,
  change: (request: () => Promise<void>) => Promise<void>,
  unit: SqlUnit,
): {
  settings: Pick<StoreWriter, 'getValue' | 'setValue'>
  flush(): Promise<void>
} {
  const seen = new Map<string, string | undefined>()
  const waiting = new Map<string, string>()
  const flush = async () => {
    const values = [...waiting]
    waiting.clear()
    for (let from = 0; from < values.length; from += mostValues)
      await putValues(finder, values.slice(from, from + mostValues))
  }
  return {
    flush,
    settings: {
      getValue: (key) =>
        unit.run(async () => {
          if (waiting.has(key)) await flush()
          const value = await loadValue(finder, key)
          if (!seen.has(key)) seen.set(key, value)
          return parseValue(key, value)
        }),
      setValue: (key, value) =>
        change(async () => {
          const text = JSON.stringify(value)
          if (!seen.has(key)) {
            waiting.set(key, text)
            return
          }
          const numRows = await replaceValue(finder, key, text, seen.get(key))
          if (numRows !== 1n) throw new SqlFault('rolledBack', 'setting')
          seen.set(key, text)
        }),
    },
  }
}

/** Most settings that one statement writes. */
const mostValues = 5_000

export async function loadValue(
  { session }: Finder,
  key: string,
): Promise<string | undefined> {
  const [row] = await session
    .selectFrom('settings')
    .select('value')
    .where('key', '=', key)
    .execute()
  return row?.value
}

export async function findValues(
  { session }: Finder,
  prefix: string,
): Promise<{ key: string; value: StoredValue }[]> {
  const rows = await session
    .selectFrom('settings')
    .selectAll()
    .where(beginsWith('key', prefix))
    .orderBy('key')
    .execute()
  return rows.map(({ key, value }) => ({
    key,
    // Parsed when it is used, so that a broken value does not hide the others.
    get value(): StoredValue {
      return parseText(key, value)
    },
  }))
}

export function parseValue(
  key: string,
  value: string | undefined,
): StoredValue | undefined {
  return value === undefined ? undefined : parseText(key, value)
}

function parseText(key: string, value: string): StoredValue {
  try {
    return JSON.parse(value)
  } catch {
    throw new StoreError(`has an invalid value: ${key}`)
  }
}

async function putValues(
  { session, dialect }: QueryPlace,
  values: readonly (readonly [key: string, value: string])[],
): Promise<void> {
  const cells = [0, 1].map((index) => sql.raw(dialect.cell('text', index)))
  // Every transaction locks settings in this order, so that two of them cannot
  // deadlock.
  const sorted = [...values].sort(([one], [other]) => (one < other ? -1 : 1))
  const json = JSON.stringify(sorted)
  if (json.length > dialect.mostJson && sorted.length > 1) {
    const half = Math.ceil(sorted.length / 2)
    await putValues({ session, dialect }, sorted.slice(0, half))
    return putValues({ session, dialect }, sorted.slice(half))
  }
  // Without the subquery, SQLite would read `on conflict` as the condition of a
  // join.
  await sql`insert into settings (key, value)
    select key, value from (select ${cells[0]} as key, ${cells[1]} as value
      from ${dialect.rows(sql`${json}`)}) as given where true
    on conflict (key) do update set value = excluded.value`.execute(session)
}

export async function replaceValue(
  { session }: Finder,
  key: string,
  value: string,
  before: string | undefined,
): Promise<bigint | undefined> {
  const replace =
    before === undefined
      ? sql`insert into settings (key, value) values (${key}, ${value})
          on conflict (key) do nothing`
      : sql`update settings set value = ${value}
          where key = ${key} and value = ${before}`
  return (await replace.execute(session)).numAffectedRows
}
