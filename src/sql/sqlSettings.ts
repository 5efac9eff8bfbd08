import { sql } from 'kysely'
import type { StoredValue, StoreWriter } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import type { SqlUnit } from './sqlUnit.js'
import { beginsWith } from './tables/beginsWith.js'
import { SqlFault } from './tables/sqlFault.js'

/**
 * Reads and writes settings inside one unit of work.
 *
 * If the work has read a setting, `setValue` replaces it only if it has not
 * changed since. If it has, the work runs again. Readers never block each
 * other.
 */
export function sqlSettings(
  finder: Finder,
  change: (request: () => Promise<void>) => Promise<void>,
  unit: SqlUnit,
): Pick<StoreWriter, 'getValue' | 'setValue'> {
  const seen = new Map<string, string | undefined>()
  return {
    getValue: (key) =>
      unit.run(async () => {
        const value = await loadValue(finder, key)
        if (!seen.has(key)) seen.set(key, value)
        return parseValue(value)
      }),
    setValue: (key, value) =>
      change(async () => {
        const text = JSON.stringify(value)
        const numRows = seen.has(key)
          ? await replaceValue(finder, key, text, seen.get(key))
          : await putValue(finder, key, text)
        if (numRows !== 1n) throw new SqlFault('rolledBack', 'setting')
        seen.set(key, text)
      }),
  }
}

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
  return rows.map(({ key, value }) => ({ key, value: JSON.parse(value) }))
}

export function parseValue(value: string | undefined): StoredValue | undefined {
  return value === undefined ? undefined : JSON.parse(value)
}

async function putValue(
  { session }: Finder,
  key: string,
  value: string,
): Promise<bigint | undefined> {
  const put = sql`insert into settings (key, value) values (${key}, ${value})
    on conflict (key) do update set value = excluded.value`
  return (await put.execute(session)).numAffectedRows
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
