import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Destination, Submitter } from '../../store/types.js'
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
  const each = parts.map((part) => sql`select * from ${part} as part`)
  const merged = sql<object>`select * from (${unite(each)}) as merged
    order by ${sql.raw(order)} limit ${BigInt(limit)}`
  const { rows } = await merged.execute(session)
  return rows
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
