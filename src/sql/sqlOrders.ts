import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { addAll } from '../core/addAll.js'
import { orderPlace } from '../store/memoryOrders.js'
import { sortRows } from '../store/memoryRows.js'
import type {
  Destination,
  EarlyQuery,
  EarlyRow,
  OrderQuery,
  OrderRecord,
  Submitter,
} from '../store/types.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  distinctDestinations,
  groupByToken,
  inAny,
  inDestination,
  inSubmitter,
  inToken,
  mergeRows,
  mostApart,
  type TokenDestinations,
} from './tables/sqlDestinations.js'
import type { SqlList } from './tables/sqlEngine.js'
import { decodeRows } from './tables/sqlRows.js'
import { earlyTable, orderTable } from './tables/sqlTables.js'

/** A session, its dialect, and whether to lock found rows. */
export type Finder = QueryPlace & {
  /** True to lock found rows until the end of the unit of work. */
  readonly locks: boolean
}

export async function findOrders(
  finder: Finder,
  query: OrderQuery,
): Promise<OrderRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  if ('refundsOf' in query) return findRefunds(finder, query.refundsOf)
  if ('chargesOf' in query) return findCharges(finder, query)
  if ('listed' in query)
    return decodeRows(orderTable, await listOrders(finder, query))
  if ('sendDue' in query)
    return decodeRows(orderTable, await findDue(finder, query))
  return searchOrders(finder, query)
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

/** Finds the orders of a token with one of these states of `early`. */
export async function findEarly(
  finder: Finder,
  { chainId, token, early }: EarlyQuery,
): Promise<EarlyRow[]> {
  const { dialect } = finder
  const { rows } = await runQuery(finder, ordersAnswered, {
    shape: {},
    values: {
      chainId: BigInt(chainId),
      token: toBytes(token),
      states: dialect.listOf('text', [...new Set(early)]),
    },
  })
  return decodeRows(earlyTable, rows)
}

function ordersAnswered(
  { session, dialect }: QueryPlace,
  _: object,
  slot: Slot<{ chainId: bigint; token: Uint8Array; states: SqlList }>,
): CompiledQuery<object> {
  return (
    session
      .selectFrom('orders')
      .select([
        'id',
        'recipient',
        'payer',
        'value',
        'capture_value',
        'early_for',
      ])
      .where('chain_id', '=', slot('chainId'))
      .where('token', '=', slot('token'))
      .where(dialect.among('early', 'text', slot('states')))
      // The condition of the index.
      .where(sql<boolean>`early is not null and early <> 'paid'`)
      .orderBy('position')
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

async function listOrders(
  { session, dialect }: Finder,
  { listed, states, payer, before, limit }: Listing,
): Promise<object[]> {
  if (states?.length === 0) return []
  const destinations = distinctDestinations(listed)
  const from = (condition: RawBuilder<boolean>) => {
    let part = session
      .selectFrom('orders')
      .selectAll()
      .where(condition)
      .where(
        sql<boolean>`refund_of is null and (subscription_id is null or charge_id is not null)`,
      )
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  }
  if (destinations.length > mostApart) {
    const all = from(inAny(dialect, destinations))
    return (states ? all.where('state', 'in', [...states]) : all).execute()
  }
  const parts = destinations.flatMap((destination) =>
    // The index of states sorts within each state, not across states.
    states
      ? [...new Set(states)].map((state) =>
          from(inDestination(destination)).where('state', '=', state),
        )
      : [from(inDestination(destination))],
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

type SubmitterSearch = Extract<Search, { sendDue: Submitter }>

type DestinationSearch = Exclude<Search, SubmitterSearch>

function findDue(
  { session, dialect, locks }: Finder,
  { sendDue, recipients, until, limit }: SubmitterSearch,
): Promise<object[]> {
  return session
    .selectFrom('orders')
    .selectAll()
    .limit(BigInt(limit))
    .where(inSubmitter(sendDue, 'submitter'))
    .where(
      dialect.among('recipient', 'bytes', dialect.listOf('bytes', recipients)),
    )
    .where('send_due', '<=', until)
    .orderBy('deadline')
    .orderBy('position')
    .$if(locks, (due) => due.forUpdate().skipLocked())
    .execute()
}

/**
 * Searches each token with its own statement, because the indexes begin with
 * chain and token, and merges the results.
 */
async function searchOrders(
  finder: Finder,
  query: DestinationSearch,
): Promise<OrderRecord[]> {
  const found: OrderRecord[] = []
  const tokens = groupByToken(destinationsOf(query))
  for (const destinations of tokens) {
    const rows = await searchToken(finder, query, destinations)
    addAll(found, decodeRows(orderTable, rows))
  }
  if (tokens.length < 2) return found
  return sortRows(found, orderPlace(query)).slice(0, query.limit)
}

function destinationsOf(query: DestinationSearch): readonly Destination[] {
  if ('lookDue' in query) return query.lookDue
  if ('settled' in query) return query.settled
  if ('oldest' in query) return [query.oldest]
  return 'refundsDue' in query ? query.refundsDue : query.unsettled
}

function searchToken(
  { session, dialect, locks }: Finder,
  query: DestinationSearch,
  destinations: TokenDestinations,
): Promise<object[]> {
  const orders = session
    .selectFrom('orders')
    .selectAll()
    .where(inToken(dialect, destinations))
    .limit(BigInt(query.limit))
  if ('lookDue' in query)
    return orders
      .where('look_due', '<=', query.until)
      .orderBy('look_due')
      .orderBy('position')
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
  if ('settled' in query)
    return orders
      .where('finality', '=', query.finality)
      .where('settled_block', '>=', query.fromBlock ?? 0n)
      .where('settled_block', '<=', query.toBlock ?? maxInteger)
      .orderBy('settled_block')
      .orderBy('position')
      .execute()
  if ('oldest' in query) return orders.orderBy('position').execute()
  if ('refundsDue' in query)
    return orders
      .where(sql<boolean>`refund_of is not null and state = 'drafted'`)
      .where('position', '>', query.after ?? -1n)
      .orderBy('position')
      .execute()
  return orders
    .where(sql<boolean>`payer is not null and look_due is not null`)
    .where('position', '>', query.after ?? -1n)
    .orderBy('position')
    .execute()
}

const maxInteger = 9_223_372_036_854_775_807n
