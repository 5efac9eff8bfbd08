import { type RawBuilder, sql } from 'kysely'
import type { Address } from 'viem'
import { indexDestinations } from '../store/isInDestinations.js'
import type { Destination, SecretQuery } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { decodeCell, toBytes } from './tables/sqlColumns.js'
import {
  groupByToken,
  inPart,
  mergeRows,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import type { SqlDialect } from './tables/sqlEngine.js'

export async function countSecretKeys(
  finder: Finder,
  destinations: readonly Destination[],
): Promise<Record<string, number>> {
  const { dialect } = finder
  const { has, tokens } = indexDestinations(destinations)
  const places =
    destinations.length > dialect.mostNamed
      ? tokens.map((token) => ({ ...token, recipients: 'all' }) as const)
      : groupByToken(destinations)
  const ofOrders = places.flatMap((place) =>
    columns.map((column) => {
      const key = keyOf(dialect, column)
      return sql`(select ${key} as key_name, orders.chain_id, orders.token,
          orders.recipient, count(*) as secrets
        ${secretsOf(dialect, place, column)}
        group by ${key}, orders.chain_id, orders.token, orders.recipient)`
    }),
  )
  const ofChannels = places.map((place) => {
    const key = keyOf(dialect, { table: 'channels', name: 'voucher' })
    return sql`(select ${key} as key_name, chain_id, token, recipient,
        count(*) as secrets
      from channels where voucher is not null and ${inPart(dialect, place)}
      group by ${key}, chain_id, token, recipient)`
  })
  const limit = Number.MAX_SAFE_INTEGER
  const parts = [...ofOrders, ...ofChannels]
  const rows = await mergeRows(finder, parts, { order: 'key_name', limit })
  const counts = new Map<string, number>()
  for (const row of rows) {
    if (destinations.length > dialect.mostNamed && !has(destinationOf(row)))
      continue
    const name = String(Reflect.get(row, 'key_name'))
    const found = Number(Reflect.get(row, 'secrets'))
    counts.set(name, (counts.get(name) ?? 0) + found)
  }
  return Object.fromEntries(counts)
}

function destinationOf(row: object): Destination {
  const read = (kind: 'number' | 'bytes', column: string) =>
    decodeCell(kind, Reflect.get(row, column))
  return {
    chainId: read('number', 'chain_id') as number,
    token: read('bytes', 'token') as Address,
    recipient: read('bytes', 'recipient') as Address,
  }
}

/**
 * Finds orders with a secret that another key than `except` sealed. Sorts them
 * by id.
 */
export async function findSecretOrders(
  finder: Finder,
  { destinations, except, after = '', limit }: SecretQuery,
): Promise<string[]> {
  const { dialect } = finder
  const parts = groupByToken(destinations).flatMap((place) =>
    columns.map((column) => {
      const orderId = sql.ref(`${column.owner}.order_id`)
      const key = keyOf(dialect, column)
      return sql`(select distinct ${orderId} as id
        ${secretsOf(dialect, place, column)}
        and ${key} <> ${except} and ${orderId} > ${after}
        order by ${orderId} limit ${BigInt(limit)})`
    }),
  )
  // An order can be in several parts, one for each kind of secret: remove the
  // duplicates.
  const rows = await mergeRows(finder, parts, {
    order: 'id',
    limit: limit * parts.length,
  })
  const ids = rows.map((row) => String(Reflect.get(row, 'id')))
  return [...new Set(ids)].slice(0, limit)
}

/** A column with secrets, and the table that names the order of each. */
type SecretColumn = {
  table: 'attempts' | 'transactions'
  name: string
  owner: 'attempts' | 'transactions' | 'movements'
}

const columns: readonly SecretColumn[] = [
  { table: 'attempts', name: 'signature', owner: 'attempts' },
  { table: 'attempts', name: 'cancellation', owner: 'attempts' },
  { table: 'transactions', name: 'raw', owner: 'transactions' },
  { table: 'transactions', name: 'raw', owner: 'movements' },
]

/**
 * Joins orders with their secrets. `cross join` stops SQLite from scanning all
 * orders first.
 */
function secretsOf(
  dialect: SqlDialect,
  { chainId, token, recipients }: SearchedPart,
  { table, name, owner }: SecretColumn,
): RawBuilder<unknown> {
  const further =
    owner === 'movements'
      ? sql`movements cross join transactions cross join orders
    where transactions.chain_id = movements.chain_id
    and transactions.account = movements.account
    and transactions.nonce = movements.nonce
    and transactions.bump = movements.bump
    and`
      : sql`${sql.table(table)} cross join orders where`
  const from = sql`from ${further} orders.id = ${sql.ref(`${owner}.order_id`)}
    and ${sql.ref(`${table}.${name}`)} is not null
    and orders.chain_id = ${BigInt(chainId)}
    and orders.token = ${toBytes(token)}`
  if (recipients === 'all') return from
  const list = dialect.listOf('bytes', recipients)
  return sql`${from} and ${dialect.among('orders.recipient', 'bytes', list)}`
}

function keyOf(
  dialect: SqlDialect,
  { table, name }: { table: SecretColumn['table'] | 'channels'; name: string },
): RawBuilder<unknown> {
  return sql.raw(dialect.textBeforeSpace(`${table}.${name}`))
}
