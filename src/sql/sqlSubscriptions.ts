import { addAll } from '../core/addAll.js'
import { sortRows } from '../store/memoryRows.js'
import { duePlace } from '../store/memorySubscriptions.js'
import type { SubscriptionQuery, SubscriptionRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  findOfMany,
  groupByToken,
  inPart,
  mergeRows,
  partsOf,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import { decodeRows } from './tables/sqlRows.js'
import { subscriptionTable } from './tables/sqlTables.js'

export async function findSubscriptions(
  finder: Finder,
  query: SubscriptionQuery,
): Promise<SubscriptionRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  const isDue = 'due' in query
  const destinations = isDue ? query.due : query.listed
  const find = (parts: readonly SearchedPart[]) =>
    isDue ? findDue(finder, query, parts) : list(finder, query, parts)
  if (destinations.length > finder.dialect.mostNamed)
    return findOfMany(destinations, finder, find)
  return find(isDue ? groupByToken(destinations) : partsOf(destinations))
}

async function findByIds(
  { session, dialect, locks }: Finder,
  ids: readonly string[],
): Promise<SubscriptionRecord[]> {
  if (ids.length === 0) return []
  const rows = await session
    .selectFrom('subscriptions')
    .selectAll()
    .where(dialect.among('id', 'text', dialect.listOf('text', ids)))
    // Every transaction locks rows in this order, so that two of them cannot
    // deadlock.
    .orderBy('id')
    .$if(locks, (found) => found.forUpdate())
    .execute()
  const found = decodeRows(subscriptionTable, rows)
  const byId = new Map(found.map((one) => [one.id, one]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}

/**
 * Searches each token with its own statement and merges the results, because
 * the index begins with chain and token.
 */
async function findDue(
  { session, dialect, locks }: Finder,
  { until, limit }: Extract<SubscriptionQuery, { until: bigint }>,
  parts: readonly SearchedPart[],
): Promise<SubscriptionRecord[]> {
  const found: SubscriptionRecord[] = []
  for (const part of parts) {
    const rows = await session
      .selectFrom('subscriptions')
      .selectAll()
      .where(inPart(dialect, part))
      .where('due', '<=', until)
      .orderBy('due')
      .orderBy('position')
      .limit(BigInt(limit))
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
    addAll(found, decodeRows(subscriptionTable, rows))
  }
  return parts.length < 2 ? found : sortRows(found, duePlace).slice(0, limit)
}

async function list(
  finder: Finder,
  { payer, before, limit }: Extract<SubscriptionQuery, { listed: unknown }>,
  places: readonly SearchedPart[],
): Promise<SubscriptionRecord[]> {
  const { session, dialect } = finder
  const parts = places.map((place) => {
    let part = session
      .selectFrom('subscriptions')
      .selectAll()
      .where(inPart(dialect, place))
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  })
  const order = 'position desc'
  const rows = await mergeRows(finder, parts, { order, limit })
  return decodeRows(subscriptionTable, rows)
}
