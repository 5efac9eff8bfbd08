import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Destination, Submitter } from '../../store/types.js'
import type { Slot } from './runQuery.js'
import { toBytes } from './sqlColumns.js'
import type { SqlSession } from './sqlEngine.js'

/** The condition that a row belongs to a destination. */
export function inDestination({
  chainId,
  token,
  recipient,
}: Destination): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${BigInt(chainId)}
    and token = ${toBytes(token)} and recipient = ${toBytes(recipient)}`
}

/** Values of destinations in a query, numbered from 0. */
export type DestinationValues = {
  [name: `chainId${number}`]: bigint
  [name: `token${number}` | `recipient${number}`]: Uint8Array
}

/** Adds the values of destinations to the other values of a query. */
export function withDestinations<others extends object>(
  destinations: readonly Destination[],
  others: others,
): DestinationValues & others {
  const values: DestinationValues = {}
  for (const [at, { chainId, token, recipient }] of destinations.entries()) {
    values[`chainId${at}`] = BigInt(chainId)
    values[`token${at}`] = toBytes(token)
    values[`recipient${at}`] = toBytes(recipient)
  }
  return Object.assign(values, others)
}

/** The condition that a row belongs to the destination with this number. */
export function inSlots(
  slot: Slot<DestinationValues>,
  at: number,
): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${slot(`chainId${at}`)}
    and token = ${slot(`token${at}`)} and recipient = ${slot(`recipient${at}`)}`
}

/** The condition that a row belongs to a submitter. */
export function inSubmitter(
  { chainId, account }: Submitter,
  column: 'submitter' | 'account',
): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${BigInt(chainId)}
    and ${sql.ref(column)} = ${toBytes(account)}`
}

/** Removes duplicate destinations. */
export function distinctDestinations(
  destinations: readonly Destination[],
): readonly Destination[] {
  const wordOf = ({ chainId, token, recipient }: Destination) =>
    `${chainId} ${token} ${recipient}`.toLowerCase()
  return [
    ...new Map(
      destinations.map((destination) => [wordOf(destination), destination]),
    ).values(),
  ]
}

/**
 * Merges the rows of several queries, each with its own index and limit. Uses
 * one statement, so that all rows come from the same snapshot.
 */
export async function mergeRows(
  session: SqlSession,
  parts: readonly Expression<unknown>[],
  { order, limit }: { order: string; limit: number },
): Promise<object[]> {
  if (parts.length === 0) return []
  const merged = merge(parts, { order, limit: BigInt(limit) })
  const { rows } = await merged.execute(session)
  return rows
}

/** The query of `mergeRows`. Needs at least one part. */
export function merge(
  parts: readonly Expression<unknown>[],
  { order, limit }: { order: string; limit: bigint | RawBuilder<bigint> },
): RawBuilder<object> {
  const each = parts.map((part) => sql`select * from ${part} as part`)
  return sql<object>`select * from (${unite(each)}) as merged
    order by ${sql.raw(order)} limit ${limit}`
}

/** SQLite allows 500 queries in one union, but also unions of unions. */
const mostUnited = 250

function unite(queries: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  const all = sql` union all `
  if (queries.length <= mostUnited) return sql.join(queries, all)
  const groups: RawBuilder<unknown>[] = []
  for (let at = 0; at < queries.length; at += mostUnited) {
    const group = sql.join(queries.slice(at, at + mostUnited), all)
    groups.push(sql`select * from (${group}) as some_parts`)
  }
  return unite(groups)
}
