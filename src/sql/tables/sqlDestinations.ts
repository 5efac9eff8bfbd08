import { type Expression, type RawBuilder, sql } from 'kysely'
import type { Destination, Submitter } from '../../store/types.js'
import type { Slot } from './runQuery.js'
import { toBytes } from './sqlColumns.js'
import type { SqlDialect, SqlSession } from './sqlEngine.js'

export function inDestination({
  chainId,
  token,
  recipient,
}: Destination): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${BigInt(chainId)}
    and token = ${toBytes(token)} and recipient = ${toBytes(recipient)}`
}

/** Destinations of one token on one chain: at least one. */
export type TokenDestinations = readonly [Destination, ...Destination[]]

/** Groups destinations by chain and token. */
export function groupByToken(
  destinations: readonly Destination[],
): TokenDestinations[] {
  const groups = new Map<string, [Destination, ...Destination[]]>()
  for (const destination of destinations) {
    const key = `${destination.chainId} ${destination.token}`
    const group = groups.get(key)
    if (group) group.push(destination)
    else groups.set(key, [destination])
  }
  return [...groups.values()]
}

/**
 * The condition that a row belongs to one of these destinations of one token.
 */
export function inToken(
  dialect: SqlDialect,
  destinations: TokenDestinations,
): RawBuilder<boolean> {
  const [first] = destinations
  if (destinations.length === 1) return inDestination(first)
  const recipients = destinations.map(({ recipient }) => recipient)
  const list = dialect.listOf('bytes', recipients)
  return sql<boolean>`chain_id = ${BigInt(first.chainId)}
    and token = ${toBytes(first.token)}
    and ${dialect.among('recipient', 'bytes', list)}`
}

/**
 * Most destinations that a query searches one by one, each by index. With more
 * destinations, one condition names all of them.
 */
export const mostApart = 100

/** The condition that a row belongs to one of these destinations, of any token. */
export function inAny(
  dialect: SqlDialect,
  destinations: readonly Destination[],
): RawBuilder<boolean> {
  const tokens = groupByToken(destinations).map(
    (group) => sql`(${inToken(dialect, group)})`,
  )
  return sql<boolean>`(${sql.join(tokens, sql` or `)})`
}

/** Values of destinations in a query, numbered from 0. */
export type DestinationValues = {
  [name: `chainId${number}`]: bigint
  [name: `token${number}` | `recipient${number}`]: Uint8Array
}

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

export function inSlots(
  slot: Slot<DestinationValues>,
  at: number,
): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${slot(`chainId${at}`)}
    and token = ${slot(`token${at}`)} and recipient = ${slot(`recipient${at}`)}`
}

export function inSubmitter(
  { chainId, account }: Submitter,
  column: 'submitter' | 'account',
): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${BigInt(chainId)}
    and ${sql.ref(column)} = ${toBytes(account)}`
}

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
