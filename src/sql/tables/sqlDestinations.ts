import { type Expression, type RawBuilder, sql } from 'kysely'
import { indexDestinations } from '../../store/isInDestinations.js'
import type { Destination, Submitter } from '../../store/types.js'
import type { QueryPlace, Slot } from './runQuery.js'
import { toBytes } from './sqlColumns.js'
import type { SqlDialect } from './sqlEngine.js'

export function inDestination({
  chainId,
  token,
  recipient,
}: Destination): RawBuilder<boolean> {
  return sql<boolean>`chain_id = ${BigInt(chainId)}
    and token = ${toBytes(token)} and recipient = ${toBytes(recipient)}`
}

/**
 * Rows of one token that a query finds by index: those of some recipients, or
 * of all.
 */
export type SearchedPart = Pick<Destination, 'chainId' | 'token'> & {
  recipients: readonly Destination['recipient'][] | 'all'
}

/**
 * Returns the SQL condition that a row belongs to this part of its token.
 *
 * @param by `filtered` stops the database from choosing an index that begins
 * with the recipient.
 */
export function inPart(
  dialect: SqlDialect,
  { chainId, token, recipients }: SearchedPart,
  by: 'indexed' | 'filtered' = 'indexed',
): RawBuilder<boolean> {
  const ofToken = sql<boolean>`chain_id = ${BigInt(chainId)}
    and token = ${toBytes(token)}`
  if (recipients === 'all') return ofToken
  const [only] = recipients
  const ofRecipients =
    only !== undefined && recipients.length === 1
      ? sql<boolean>`recipient = ${toBytes(only)}`
      : dialect.among('recipient', 'bytes', dialect.listOf('bytes', recipients))
  return by === 'indexed'
    ? sql<boolean>`${ofToken} and ${ofRecipients}`
    : sql<boolean>`${ofToken} and (${ofRecipients}) is true`
}

/** Returns one part for each destination. */
export function partsOf(destinations: readonly Destination[]): SearchedPart[] {
  return distinctDestinations(destinations).map(({ recipient, ...token }) => ({
    ...token,
    recipients: [recipient],
  }))
}

/** Returns one part for each token, with all its recipients from the list. */
export function groupByToken(
  destinations: readonly Destination[],
): SearchedPart[] {
  const groups = new Map<
    string,
    SearchedPart & { recipients: Destination['recipient'][] }
  >()
  for (const { chainId, token, recipient } of destinations) {
    const key = `${chainId} ${token}`
    const group = groups.get(key)
    if (group) group.recipients.push(recipient)
    else groups.set(key, { chainId, token, recipients: [recipient] })
  }
  return [...groups.values()]
}

/**
 * Finds rows of these destinations. A database takes longer to parse a
 * statement with thousands of recipients than to answer it. So this first finds
 * the rows of all recipients of the tokens. It names our recipients in a second
 * statement only if the first found a row of another shop in the same store.
 */
export async function findOfMany<row extends Destination>(
  destinations: readonly Destination[],
  { locks }: { locks: boolean },
  find: (parts: readonly SearchedPart[]) => Promise<row[]>,
): Promise<row[]> {
  const { has, tokens } = indexDestinations(destinations)
  // A statement that locks rows names our recipients at once: it would
  // otherwise lock rows of other shops, and those shops would wait.
  if (!locks) {
    const all = tokens.map(
      (token) => ({ ...token, recipients: 'all' }) as const,
    )
    const rows = await find(all)
    if (rows.every(has)) return rows
  }
  return find(groupByToken(destinations))
}

/**
 * Values of destinations in a query. The names end with the index of the
 * destination, from 0.
 */
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
 * Merges the rows of several queries, each with its own index and limit. All
 * queries are in one statement, so that all rows come from the same snapshot.
 */
export async function mergeRows(
  { session, dialect }: QueryPlace,
  parts: readonly Expression<unknown>[],
  { order, limit }: { order: string; limit: number },
): Promise<object[]> {
  if (parts.length === 0) return []
  const merged = merge(dialect, parts, { order, limit: BigInt(limit) })
  const { rows } = await merged.execute(session)
  return rows
}

/** Builds the statement of `mergeRows`. Needs at least one query. */
export function merge(
  { mostUnited }: SqlDialect,
  parts: readonly Expression<unknown>[],
  { order, limit }: { order: string; limit: bigint | RawBuilder<bigint> },
): RawBuilder<object> {
  const each = parts.map((part) => sql`select * from ${part} as part`)
  return sql<object>`select * from (${unite(each, mostUnited)}) as merged
    order by ${sql.raw(order)} limit ${limit}`
}

function unite(
  queries: readonly RawBuilder<unknown>[],
  mostUnited: number,
): RawBuilder<unknown> {
  const all = sql` union all `
  if (queries.length <= mostUnited) return sql.join(queries, all)
  const groups: RawBuilder<unknown>[] = []
  for (let at = 0; at < queries.length; at += mostUnited) {
    const group = sql.join(queries.slice(at, at + mostUnited), all)
    groups.push(sql`select * from (${group}) as some_parts`)
  }
  return unite(groups, mostUnited)
}
