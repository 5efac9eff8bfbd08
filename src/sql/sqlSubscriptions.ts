import type { SubscriptionQuery, SubscriptionRecord } from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  distinctDestinations,
  inDestination,
  mergeRows,
} from './tables/sqlDestinations.js'
import { decodeRows } from './tables/sqlRows.js'
import { subscriptionTable } from './tables/sqlTables.js'

export async function findSubscriptions(
  finder: Finder,
  query: SubscriptionQuery,
): Promise<SubscriptionRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  const rows =
    'due' in query
      ? await findDue(finder, query)
      : await listSubscriptions(finder, query)
  return decodeRows(subscriptionTable, rows)
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

function listSubscriptions(
  { session }: Finder,
  {
    listed,
    payer,
    before,
    limit,
  }: Extract<SubscriptionQuery, { listed: unknown }>,
): Promise<object[]> {
  const parts = distinctDestinations(listed).map((destination) => {
    let part = session
      .selectFrom('subscriptions')
      .selectAll()
      .where(inDestination(destination))
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  })
  return mergeRows(session, parts, { order: 'position desc', limit })
}
