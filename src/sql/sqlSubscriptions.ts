import type { SubscriptionQuery, SubscriptionRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  findOfMany,
  inDestination,
  inPart,
  mergeRows,
  mostNamed,
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
  if ('due' in query)
    return decodeRows(subscriptionTable, await findDue(finder, query))
  const { listed } = query
  const list = (parts: readonly SearchedPart[]) =>
    listSubscriptions(finder, query, parts)
  return listed.length > mostNamed
    ? findOfMany(listed, finder, list)
    : list(partsOf(listed))
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
    // All units of work lock in this order, so that no deadlock is possible.
    .orderBy('id')
    .$if(locks, (found) => found.forUpdate())
    .execute()
  const found = decodeRows(subscriptionTable, rows)
  const byId = new Map(found.map((one) => [one.id, one]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}

function findDue(
  { session, locks }: Finder,
  { due, until, limit }: Extract<SubscriptionQuery, { until: bigint }>,
): Promise<object[]> {
  return session
    .selectFrom('subscriptions')
    .selectAll()
    .where(inDestination(due))
    .where('due', '<=', until)
    .orderBy('due')
    .orderBy('position')
    .limit(BigInt(limit))
    .$if(locks, (found) => found.forUpdate().skipLocked())
    .execute()
}

async function listSubscriptions(
  { session, dialect }: Finder,
  { payer, before, limit }: Extract<SubscriptionQuery, { listed: unknown }>,
  places: readonly SearchedPart[],
): Promise<SubscriptionRecord[]> {
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
  const rows = await mergeRows(session, parts, { order, limit })
  return decodeRows(subscriptionTable, rows)
}
