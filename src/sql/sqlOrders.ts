import { type CompiledQuery, sql } from 'kysely'
import type { Destination, OrderQuery, OrderRecord } from '../store/types.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  distinctDestinations,
  inDestination,
  inSubmitter,
  mergeRows,
} from './tables/sqlDestinations.js'
import type { SqlList } from './tables/sqlEngine.js'
import { decodeRows } from './tables/sqlRows.js'
import { orderTable } from './tables/sqlTables.js'

/** A session with the options for finding rows. */
export type Finder = QueryPlace & {
  /** True to lock found rows until the end of the unit of work. */
  readonly locks: boolean
}

/** Finds the orders that a query selects. */
export async function findOrders(
  finder: Finder,
  query: OrderQuery,
): Promise<OrderRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  if ('refundsOf' in query) return findRefunds(finder, query.refundsOf)
  if ('chargesOf' in query) return findCharges(finder, query)
  const rows =
    'listed' in query
      ? await listOrders(finder, query)
      : await searchOrders(finder, query)
  return decodeRows(orderTable, rows)
}

async function findByIds(
  finder: Finder,
  ids: readonly string[],
): Promise<OrderRecord[]> {
  if (ids.length === 0) return []
  const { dialect, locks } = finder
  const { rows } = await runQuery(finder, ordersById, {
    shape: { locks },
    values: { ids: dialect.listOf('text', ids) },
  })
  const orders = decodeRows(orderTable, rows)
  const byId = new Map(orders.map((order) => [order.id, order]))
  return [...new Set(ids)].flatMap((id) => byId.get(id) ?? [])
}

function ordersById(
  { session, dialect }: QueryPlace,
  { locks }: { locks: boolean },
  slot: Slot<{ ids: SqlList }>,
): CompiledQuery<object> {
  return (
    session
      .selectFrom('orders')
      .selectAll()
      .where(dialect.among('id', 'text', slot('ids')))
      // All units of work lock in this order, so that no deadlock is possible.
      .orderBy('id')
      .$if(locks, (query) => query.forUpdate())
      .compile()
  )
}

async function findRefunds(
  { session, dialect }: Finder,
  orderIds: readonly string[],
): Promise<OrderRecord[]> {
  if (orderIds.length === 0) return []
  const rows = await session
    .selectFrom('orders')
    .selectAll()
    .where('refund_of', 'is not', null)
    .where(dialect.among('refund_of', 'text', dialect.listOf('text', orderIds)))
    .orderBy('position')
    .execute()
  return decodeRows(orderTable, rows)
}

type ChargeSearch = Extract<OrderQuery, { chargesOf: string }>

async function findCharges(
  { session }: Finder,
  { chargesOf, before, limit }: ChargeSearch,
): Promise<OrderRecord[]> {
  const rows = await session
    .selectFrom('orders')
    .selectAll()
    .where('subscription_id', '=', chargesOf)
    .where('charge_id', 'is not', null)
    .where('position', '<', before ?? maxInteger)
    .orderBy('position', 'desc')
    .limit(BigInt(limit))
    .execute()
  return decodeRows(orderTable, rows)
}

type Listing = Extract<OrderQuery, { listed: readonly Destination[] }>

function listOrders(
  { session }: Finder,
  { listed, states, payer, before, limit }: Listing,
): Promise<object[]> {
  const from = (destination: Destination) => {
    let part = session
      .selectFrom('orders')
      .selectAll()
      .where(inDestination(destination))
      .where(
        sql<boolean>`refund_of is null and (subscription_id is null or charge_id is not null)`,
      )
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  }
  const parts = distinctDestinations(listed).flatMap((destination) =>
    // The index of states sorts within each state, not across states.
    states
      ? [...new Set(states)].map((state) =>
          from(destination).where('state', '=', state),
        )
      : [from(destination)],
  )
  return mergeRows(session, parts, { order: 'position desc', limit })
}

type Search = Exclude<
  OrderQuery,
  | Listing
  | ChargeSearch
  | { ids: readonly string[] }
  | { refundsOf: readonly string[] }
>

function searchOrders(
  { session, dialect, locks }: Finder,
  query: Search,
): Promise<object[]> {
  const orders = session
    .selectFrom('orders')
    .selectAll()
    .limit(BigInt(query.limit))
  if ('sendDue' in query)
    return orders
      .where(inSubmitter(query.sendDue, 'submitter'))
      .where(
        dialect.among(
          'recipient',
          'bytes',
          dialect.listOf('bytes', query.recipients),
        ),
      )
      .where('send_due', '<=', query.until)
      .orderBy('deadline')
      .orderBy('position')
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
  if ('lookDue' in query)
    return orders
      .where(inDestination(query.lookDue))
      .where('look_due', '<=', query.until)
      .orderBy('look_due')
      .orderBy('position')
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
  if ('settled' in query)
    return orders
      .where(inDestination(query.settled))
      .where('finality', '=', query.finality)
      .where('settled_block', '>=', query.fromBlock ?? 0n)
      .where('settled_block', '<=', query.toBlock ?? maxInteger)
      .orderBy('settled_block')
      .orderBy('position')
      .execute()
  if ('oldest' in query)
    return orders
      .where(inDestination(query.oldest))
      .orderBy('position')
      .execute()
  if ('refundsDue' in query)
    return orders
      .where(inDestination(query.refundsDue))
      .where(sql<boolean>`refund_of is not null and state = 'drafted'`)
      .where('position', '>', query.after ?? -1n)
      .orderBy('position')
      .execute()
  return orders
    .where(inDestination(query.unsettled))
    .where(sql<boolean>`payer is not null and look_due is not null`)
    .where('position', '>', query.after ?? -1n)
    .orderBy('position')
    .execute()
}

const maxInteger = 9_223_372_036_854_775_807n
