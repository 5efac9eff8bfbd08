import { type RawBuilder, sql } from 'kysely'
import type { Destination, SecretQuery } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { toBytes } from './tables/sqlColumns.js'
import { distinctDestinations, mergeRows } from './tables/sqlDestinations.js'
import type { SqlDialect } from './tables/sqlEngine.js'

export async function countSecretKeys(
  { session, dialect }: Finder,
  destinations: readonly Destination[],
): Promise<Record<string, number>> {
  const parts = distinctDestinations(destinations).flatMap((destination) =>
    columns.map((column) => {
      const key = keyOf(dialect, column)
      const from = secretsOf(destination, column)
      return sql`(select ${key} as key_name, count(*) as secrets
        ${from} group by ${key})`
    }),
  )
  const limit = Number.MAX_SAFE_INTEGER
  const rows = await mergeRows(session, parts, { order: 'key_name', limit })
  const counts = new Map<string, number>()
  for (const row of rows) {
    const name = String(Reflect.get(row, 'key_name'))
    const found = Number(Reflect.get(row, 'secrets'))
    counts.set(name, (counts.get(name) ?? 0) + found)
  }
  return Object.fromEntries(counts)
}

/**
 * Finds orders with a secret sealed by another key, in the order of their ids.
 */
export async function findSecretOrders(
  { session, dialect }: Finder,
  { destinations, except, after = '', limit }: SecretQuery,
): Promise<string[]> {
  const parts = distinctDestinations(destinations).flatMap((destination) =>
    columns.map(({ table, name }) => {
      const orderId = sql.ref(`${table}.order_id`)
      const key = keyOf(dialect, { table, name })
      return sql`(select distinct ${orderId} as id
        ${secretsOf(destination, { table, name })}
        and ${key} <> ${except} and ${orderId} > ${after}
        order by ${orderId} limit ${BigInt(limit)})`
    }),
  )
  // Several parts can return the same order.
  const rows = await mergeRows(session, parts, {
    order: 'id',
    limit: limit * parts.length,
  })
  const ids = rows.map((row) => String(Reflect.get(row, 'id')))
  return [...new Set(ids)].slice(0, limit)
}

type SecretColumn = { table: 'attempts' | 'transactions'; name: string }

const columns: readonly SecretColumn[] = [
  { table: 'attempts', name: 'signature' },
  { table: 'attempts', name: 'cancellation' },
  { table: 'transactions', name: 'raw' },
]

/** Uses `cross join`, because SQLite would otherwise scan all orders first. */
function secretsOf(
  { chainId, token, recipient }: Destination,
  { table, name }: SecretColumn,
): RawBuilder<unknown> {
  return sql`from ${sql.table(table)} cross join orders
    where orders.id = ${sql.ref(`${table}.order_id`)}
    and ${sql.ref(`${table}.${name}`)} is not null
    and orders.chain_id = ${BigInt(chainId)}
    and orders.token = ${toBytes(token)}
    and orders.recipient = ${toBytes(recipient)}`
}

function keyOf(
  dialect: SqlDialect,
  { table, name }: SecretColumn,
): RawBuilder<unknown> {
  return sql.raw(dialect.textBeforeSpace(`${table}.${name}`))
}
