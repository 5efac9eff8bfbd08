import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { addAll } from '../core/addAll.js'
import { listedRoles } from '../store/listedRoles.js'
import { destinationsOf, orderPlace } from '../store/memoryOrders.js'
import { sortRows } from '../store/memoryRows.js'
import type {
  Destination,
  EarlyQuery,
  EarlyRow,
  OrderQuery,
  OrderRecord,
  Submitter,
} from '../store/types.js'
import {
  bothSides,
  fromSide,
  ofSides,
  onlyLive,
} from './tables/archivedTables.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  findOfMany,
  groupByToken,
  inPart,
  inSubmitter,
  mergeRows,
  partsOf,
  type SearchedPart,
} from './tables/sqlDestinations.js'
import type { SqlList } from './tables/sqlEngine.js'
import { decodeRows } from './tables/sqlRows.js'
import { earlyTable, orderTable, type Side } from './tables/sqlTables.js'

/**
 * A database session, its SQL dialect, whether to lock the rows that are found,
 * and where to search.
 */
export type Finder = QueryPlace & {
  readonly locks: boolean
  readonly sides: readonly Side[]
}

export async function findOrders(
  finder: Finder,
  query: OrderQuery,
): Promise<OrderRecord[]> {
  if ('ids' in query) return findByIds(finder, query.ids)
  if ('needReview' in query) return findByIds(finder, query.needReview, true)
  if ('refundsOf' in query) return findRefunds(finder, query.refundsOf)
  if ('chargesOf' in query) return findCharges(finder, query)
  if ('sendDue' in query) return findDue(finder, query)
  const destinations = destinationsOf(query)
  const find = (parts: readonly SearchedPart[]) =>
    'listed' in query
      ? listOrders(finder, query, parts)
      : searchOrders(finder, query, parts)
  if (destinations.length > finder.dialect.mostNamed)
    return findOfMany(destinations, finder, find)
  if (!('listed' in query)) return find(groupByToken(destinations))
  return find(partsOf(destinations))
}

/** Locks rows that are found, but none in the archive. */
async function findByIds(
  finder: Finder,
  ids: readonly string[],
  needReview = false,
): Promise<OrderRecord[]> {
  if (ids.length === 0) return []
  const { dialect, locks } = finder
  const find = async (among: readonly string[], shape: IdsShape) => {
    const values = { ids: dialect.listOf('text', among) }
    const { rows } = await runQuery(finder, ordersById, { shape, values })
    return decodeRows(orderTable, rows)
  }
  const isWanted = (order: OrderRecord) => order.needsReview || !needReview
  // When rows are locked, the filter by review runs after the locking. Before
  // it, another writer could still put an order in review, and the order would
  // be missed. None in the archive is in review.
  const orders = await find(ids, {
    locks,
    needReview: needReview && !locks,
    sides: locks || needReview ? onlyLive : finder.sides,
  })
  const byId = new Map(orders.map((order) => [order.id, order]))
  const missing = needReview ? [] : ids.filter((id) => !byId.has(id))
  if (locks && missing.length > 0) {
    const shape = { locks: false, needReview: false, sides: bothSides }
    for (const order of await find(missing, shape)) byId.set(order.id, order)
  }
  return [...new Set(ids)].flatMap((id) => {
    const order = byId.get(id)
    return order && isWanted(order) ? order : []
  })
}

type IdsShape = {
  locks: boolean
  needReview: boolean
  sides: readonly Side[]
}

function ordersById(
  { session, dialect }: QueryPlace,
  { locks, needReview, sides }: IdsShape,
  slot: Slot<{ ids: SqlList }>,
): CompiledQuery<object> {
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'orders'))
      .selectAll()
      .where(dialect.among('id', 'text', slot('ids')))
  if (sides.length > 1) return ofSides(sides, from, 'id').compile(session)
  return (
    from('live')
      .$if(needReview, (query) => query.where(sql<boolean>`needs_review`))
      // Every transaction locks rows in this order, so that two of them cannot
      // deadlock.
      .orderBy('id')
      .$if(locks, (query) => query.forUpdate())
      .compile()
  )
}

/**
 * Finds the orders of a token that were answered before their capture was in a
 * block, by the state of this early answer.
 */
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
      // Repeats the condition of the partial index, without which the database
      // does not use that index.
      .where(sql<boolean>`early is not null and early <> 'paid'`)
      // `+ 0` stops SQLite from choosing the index of `position`, with which it
      // would scan all orders.
      .orderBy(sql`position + 0`)
      .compile()
  )
}

async function findRefunds(
  { session, dialect, sides }: Finder,
  orderIds: readonly string[],
): Promise<OrderRecord[]> {
  if (orderIds.length === 0) return []
  const parents = dialect.listOf('text', orderIds)
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'orders'))
      .selectAll()
      .where('role', '=', 'refund')
      .where('parent_id', 'is not', null)
      .where(dialect.among('parent_id', 'text', parents))
  const { rows } = await ofSides(sides, from, 'position').execute(session)
  return decodeRows(orderTable, rows)
}

type ChargeSearch = Extract<OrderQuery, { chargesOf: string }>

async function findCharges(
  finder: Finder,
  { chargesOf, before, limit }: ChargeSearch,
): Promise<OrderRecord[]> {
  const parts = finder.sides.map((side) =>
    finder.session
      .selectFrom(fromSide(side, 'orders'))
      .selectAll()
      .where('role', '=', 'charge')
      .where('parent_id', '=', chargesOf)
      .where('position', '<', before ?? maxInteger)
      .orderBy('position', 'desc')
      .limit(BigInt(limit)),
  )
  const order = 'position desc'
  return decodeRows(
    orderTable,
    await mergeRows(finder, parts, { order, limit }),
  )
}

const isListed = sql.raw<boolean>(
  `role in (${listedRoles.map((role) => `'${role}'`).join(', ')})`,
)

type Listing = Extract<OrderQuery, { listed: readonly Destination[] }>

async function listOrders(
  finder: Finder,
  { states, payer, before, limit }: Listing,
  places: readonly SearchedPart[],
): Promise<OrderRecord[]> {
  const { session, dialect } = finder
  const from = (side: Side, condition: RawBuilder<boolean>) => {
    let part = session
      .selectFrom(fromSide(side, 'orders'))
      .selectAll()
      .where(condition)
      .where(isListed)
      .orderBy('position', 'desc')
      .limit(BigInt(limit))
    if (payer !== undefined) part = part.where('payer', '=', toBytes(payer))
    if (before !== undefined) part = part.where('position', '<', before)
    return part
  }
  const parts = places.flatMap((place) =>
    finder.sides.flatMap((side) => {
      const part = from(side, inPart(dialect, place))
      // The index of states is sorted only within each state. So each state
      // gets a query of its own, and the results are merged.
      return states
        ? [...new Set(states)].map((state) => part.where('state', '=', state))
        : [part]
    }),
  )
  const order = 'position desc'
  return decodeRows(
    orderTable,
    await mergeRows(finder, parts, { order, limit }),
  )
}

type Search = Exclude<
  OrderQuery,
  | Listing
  | ChargeSearch
  | { ids: readonly string[] }
  | { needReview: readonly string[] }
  | { refundsOf: readonly string[] }
>

type SubmitterSearch = Extract<Search, { sendDue: Submitter }>

type DestinationSearch = Exclude<Search, SubmitterSearch>

/**
 * Finds orders whose transactions are due. With more than 100 recipients, first
 * searches the orders of all recipients, and names the recipients only if an
 * order of another shop is among them: a statement with thousands of names is
 * slow.
 */
async function findDue(
  { session, dialect, locks }: Finder,
  { sendDue, recipients, until, limit }: SubmitterSearch,
): Promise<OrderRecord[]> {
  const due = session
    .selectFrom('orders')
    .selectAll()
    .limit(BigInt(limit))
    .where(inSubmitter(sendDue, 'submitter'))
    .where('send_due', '<=', until)
    .orderBy('deadline')
    .orderBy('position')
  if (recipients.length > dialect.mostNamed && !locks) {
    const rows = decodeRows(orderTable, await due.execute())
    const own = new Set(rows.length > 0 ? recipients : [])
    if (rows.every(({ recipient }) => own.has(recipient))) return rows
  }
  const list = dialect.listOf('bytes', recipients)
  const rows = await due
    .where(dialect.among('recipient', 'bytes', list))
    .$if(locks, (found) => found.forUpdate().skipLocked())
    .execute()
  return decodeRows(orderTable, rows)
}

/**
 * Searches each token with its own statement and merges the results, because
 * the indexes begin with chain and token.
 */
async function searchOrders(
  finder: Finder,
  query: DestinationSearch,
  parts: readonly SearchedPart[],
): Promise<OrderRecord[]> {
  const found: OrderRecord[] = []
  for (const part of parts)
    addAll(
      found,
      decodeRows(orderTable, await searchToken(finder, query, part)),
    )
  if (parts.length < 2) return found
  return sortRows(found, orderPlace(query)).slice(0, query.limit)
}

function searchToken(
  { session, dialect, locks, sides }: Finder,
  query: DestinationSearch,
  part: SearchedPart,
): Promise<object[]> {
  const { limit } = query
  const orders = session.selectFrom('orders').selectAll().limit(BigInt(limit))
  const own = orders.where(inPart(dialect, part))
  if ('lookDue' in query)
    return own
      .where('look_due', '<=', query.until)
      .orderBy('look_due')
      .orderBy('position')
      .$if(locks, (due) => due.forUpdate().skipLocked())
      .execute()
  if ('settled' in query)
    return own
      .where('finality', '=', query.finality)
      .$if(query.finality !== 'finalized', (found) =>
        // Repeats the condition of the partial index, without which the
        // database does not use that index.
        found.where(sql<boolean>`finality <> 'finalized'`),
      )
      .where('settled_block', '>=', query.fromBlock ?? 0n)
      .where('settled_block', '<=', query.toBlock ?? maxInteger)
      .orderBy('settled_block')
      .orderBy('position')
      .execute()
  if ('oldest' in query) {
    const both = sides.map((side) =>
      session
        .selectFrom(fromSide(side, 'orders'))
        .selectAll()
        .where(inPart(dialect, part))
        .orderBy('position')
        .limit(BigInt(limit)),
    )
    return mergeRows({ session, dialect }, both, { order: 'position', limit })
  }
  const open = orders
    .where(inPart(dialect, part, 'filtered'))
    .where('position', '>', query.after ?? -1n)
    .orderBy('position')
  if ('refundsDue' in query)
    return open
      .where(sql<boolean>`role = 'refund' and state = 'drafted'`)
      .execute()
  return open
    .where(sql<boolean>`payer is not null and look_due is not null`)
    .execute()
}

const maxInteger = 9_223_372_036_854_775_807n
