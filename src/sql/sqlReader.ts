import type { JsonObject, StoreReader } from '../store/types.js'
import {
  findAttempts,
  findEvents,
  findProofs,
  findTransactions,
} from './sqlFinds.js'
import { countOrders, type Finder, findOrders } from './sqlOrders.js'
import type { SqlUnit } from './sqlUnit.js'

/** Everything kept, as one unit of work sees it. */
export function sqlReader(finder: Finder, unit: SqlUnit): StoreReader {
  return {
    orders: {
      find: (query) => unit.run(() => findOrders(finder, query)),
      count: (scopes) => unit.run(() => countOrders(finder, scopes)),
    },
    attempts: { find: (query) => unit.run(() => findAttempts(finder, query)) },
    transactions: {
      find: (query) => unit.run(() => findTransactions(finder, query)),
    },
    proofs: { find: (query) => unit.run(() => findProofs(finder, query)) },
    events: { find: (query) => unit.run(() => findEvents(finder, query)) },
    getValue: (key) =>
      unit.run(async () => parseValue(await readValue(finder, key))),
  }
}

/** A setting as it is kept. */
export async function readValue(
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

export function parseValue(value: string | undefined): JsonObject | undefined {
  return value === undefined ? undefined : JSON.parse(value)
}
