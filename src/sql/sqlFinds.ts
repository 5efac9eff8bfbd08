import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type {
  AttemptQuery,
  AttemptRecord,
  EventQuery,
  EventRecord,
  ProofQuery,
  ProofRecord,
  TransactionQuery,
} from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { fromSide, ofSides } from './tables/archivedTables.js'
import { type QueryPlace, runQuery, type Slot } from './tables/runQuery.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  type DestinationValues,
  distinctDestinations,
  findOfMany,
  inDestination,
  inPart,
  inSlots,
  inSubmitter,
  merge,
  mergeRows,
  withDestinations,
} from './tables/sqlDestinations.js'
import type { SqlList } from './tables/sqlEngine.js'
import { decodeRows } from './tables/sqlRows.js'
import {
  attemptTable,
  eventTable,
  proofTable,
  type Side,
  type TransactionRow,
  transactionTable,
} from './tables/sqlTables.js'

/** Where a query searches: part of its shape. */
type Sides = { sides: readonly Side[] }

const isTrue = (column: 'spendable' | 'in_flight') =>
  sql<boolean>`${sql.ref(column)}`

export async function findAttempts(
  finder: Finder,
  query: AttemptQuery,
): Promise<AttemptRecord[]> {
  if ('exposure' in query) {
    const { chainId, token, payer } = query.exposure
    const { rows } = await runQuery(finder, attemptsOfPayer, {
      shape: {},
      values: {
        chainId: BigInt(chainId),
        token: toBytes(token),
        payer: toBytes(payer),
      },
    })
    return decodeRows(attemptTable, rows)
  }
  const { dialect } = finder
  const by = 'nonces' in query ? 'nonce' : 'order_id'
  const list =
    'nonces' in query
      ? dialect.listOf('bytes', query.nonces)
      : dialect.listOf('text', query.orderIds)
  const { rows } = await runQuery(finder, attemptsBy, {
    shape: { by, sides: finder.sides },
    values: { list },
  })
  return decodeRows(attemptTable, rows)
}

type ExposureValues = { chainId: bigint; token: Uint8Array; payer: Uint8Array }

function attemptsOfPayer(
  { session }: QueryPlace,
  _: object,
  slot: Slot<ExposureValues>,
): CompiledQuery<object> {
  return session
    .selectFrom('attempts')
    .selectAll()
    .orderBy('order_id')
    .orderBy('number')
    .where('chain_id', '=', slot('chainId'))
    .where('token', '=', slot('token'))
    .where('payer', '=', slot('payer'))
    .where(isTrue('spendable'))
    .compile()
}

function attemptsBy(
  { session, dialect }: QueryPlace,
  { by, sides }: Sides & { by: 'nonce' | 'order_id' },
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const kind = by === 'nonce' ? 'bytes' : 'text'
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'attempts'))
      .selectAll()
      .where(dialect.among(by, kind, slot('list')))
  return ofSides(sides, from, 'order_id, number').compile(session)
}

export async function findTransactions(
  finder: Finder,
  query: TransactionQuery,
): Promise<TransactionRow[]> {
  const { session, dialect, sides } = finder
  if ('orderIds' in query) {
    const list = dialect.listOf('text', query.orderIds)
    const { rows } = await runQuery(finder, transactionsOfOrders, {
      shape: { sides },
      values: { list },
    })
    return decodeRows(transactionTable, rows)
  }
  const from = (side: Side) => {
    const transactions = session
      .selectFrom(fromSide(side, 'transactions'))
      .selectAll()
    if ('hashes' in query)
      return transactions
        .where('chain_id', '=', BigInt(query.chainId))
        .where(
          dialect.among('hash', 'bytes', dialect.listOf('bytes', query.hashes)),
        )
    if ('inFlight' in query)
      return transactions
        .where(inSubmitter(query.inFlight, 'account'))
        .where(isTrue('in_flight'))
    if ('sentBy' in query)
      return transactions
        .where(inSubmitter(query.sentBy, 'account'))
        .where('nonce', '>=', BigInt(query.fromNonce))
        .orderBy('nonce')
        .orderBy('bump')
        .limit(BigInt(query.limit))
    return transactions
      .where(inSubmitter(query.at, 'account'))
      .where('nonce', '=', BigInt(query.nonce))
  }
  const order = 'nonce, bump'
  if ('sentBy' in query) {
    const { limit } = query
    const rows = await mergeRows(finder, sides.map(from), { order, limit })
    return decodeRows(transactionTable, rows)
  }
  // None in flight is in the archive.
  const found =
    'inFlight' in query
      ? await from('live').orderBy('nonce').orderBy('bump').execute()
      : (await ofSides(sides, from, order).execute(session)).rows
  return decodeRows(transactionTable, found)
}

function transactionsOfOrders(
  { session, dialect }: QueryPlace,
  { sides }: Sides,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const from = (side: Side) => ofOrdersOn(side, { session, dialect }, slot)
  return ofSides(sides, from, 'nonce, bump').compile(session)
}

/** Finds the transactions of orders that are on one side. */
export async function findTransactionsOn(
  finder: Finder,
  side: Side,
  orderIds: readonly string[],
): Promise<TransactionRow[]> {
  const list = finder.dialect.listOf('text', orderIds)
  const rows = await ofOrdersOn(side, finder, () => sql.val(list)).execute()
  return decodeRows(transactionTable, rows)
}

function ofOrdersOn(
  side: Side,
  { session, dialect }: QueryPlace,
  slot: Slot<{ list: SqlList }>,
) {
  // A transaction and its movements are on the same side. `union` leaves out a
  // transaction that several of the orders find.
  return session
    .selectFrom(fromSide(side, 'transactions'))
    .selectAll()
    .where(dialect.among('order_id', 'text', slot('list')))
    .union(
      session
        .selectFrom(fromSide(side, 'movements'))
        .innerJoin(fromSide(side, 'transactions'), (join) =>
          join
            .onRef('transactions.chain_id', '=', 'movements.chain_id')
            .onRef('transactions.account', '=', 'movements.account')
            .onRef('transactions.nonce', '=', 'movements.nonce')
            .onRef('transactions.bump', '=', 'movements.bump'),
        )
        .selectAll('transactions')
        .where(dialect.among('movements.order_id', 'text', slot('list'))),
    )
}

export async function findProofs(
  finder: Finder,
  query: ProofQuery,
): Promise<ProofRecord[]> {
  const { session, dialect, sides } = finder
  if ('destinations' in query) {
    const { fromBlock = 0n, limit } = query
    if (query.destinations.length > dialect.mostNamed)
      return findOfMany(query.destinations, finder, async (parts) => {
        const found = parts.flatMap((part) =>
          sides.map((side) =>
            session
              .selectFrom(fromSide(side, 'proofs'))
              .selectAll()
              .where(inPart(dialect, part))
              .where('block_number', '>=', fromBlock)
              .orderBy('block_number')
              .orderBy('log_index')
              .limit(BigInt(limit)),
          ),
        )
        const order = 'block_number, chain_id, log_index'
        const rows = await mergeRows(finder, found, { order, limit })
        return decodeRows(proofTable, rows)
      })
    const destinations = distinctDestinations(query.destinations)
    if (destinations.length === 0) return []
    const { rows } = await runQuery(finder, proofsFrom, {
      shape: { destinations: destinations.length, sides },
      values: withDestinations(destinations, {
        fromBlock,
        limit: BigInt(limit),
      }),
    })
    return decodeRows(proofTable, rows)
  }
  if ('orderIds' in query) {
    const list = dialect.listOf('text', query.orderIds)
    const { rows } = await runQuery(finder, proofsOfOrders, {
      shape: { sides },
      values: { list },
    })
    return decodeRows(proofTable, rows)
  }
  const hashes = dialect.listOf('bytes', query.hashes)
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'proofs'))
      .selectAll()
      .where('chain_id', '=', BigInt(query.chainId))
      .where(dialect.among('transaction_hash', 'bytes', hashes))
  const found = ofSides(sides, from, 'block_number, log_index')
  return decodeRows(proofTable, (await found.execute(session)).rows)
}

type PageValues = DestinationValues & { limit: bigint }

function proofsFrom(
  { session, dialect }: QueryPlace,
  { destinations, sides }: Sides & { destinations: number },
  slot: Slot<PageValues & { fromBlock: bigint }>,
): CompiledQuery<object> {
  const parts = Array.from({ length: destinations }, (_, at) =>
    sides.map((side) =>
      session
        .selectFrom(fromSide(side, 'proofs'))
        .selectAll()
        .where(inSlots(slot, at))
        .where('block_number', '>=', slot('fromBlock'))
        .orderBy('block_number')
        .orderBy('log_index')
        .limit(slot('limit')),
    ),
  ).flat()
  const order = 'block_number, chain_id, log_index'
  return merge(dialect, parts, { order, limit: slot('limit') }).compile(session)
}

function proofsOfOrders(
  { session, dialect }: QueryPlace,
  { sides }: Sides,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'proofs'))
      .selectAll()
      .where(dialect.among('order_id', 'text', slot('list')))
  return ofSides(sides, from, 'block_number, log_index').compile(session)
}

export async function findEvents(
  finder: Finder,
  query: EventQuery,
): Promise<EventRecord[]> {
  const { session, dialect, sides } = finder
  if ('orderIds' in query) {
    const list = dialect.listOf('text', query.orderIds)
    const { rows } = await runQuery(finder, eventsOfOrders, {
      shape: { sides },
      values: { list },
    })
    return decodeRows(eventTable, rows)
  }
  if ('newest' in query) {
    const findLast = async (conditions: readonly RawBuilder<boolean>[]) => {
      const lasts = conditions.flatMap((condition) =>
        sides.map((side) =>
          session
            .selectFrom(fromSide(side, 'events'))
            .selectAll()
            .where(condition)
            .orderBy('cursor', 'desc')
            .limit(1n),
        ),
      )
      const order = 'cursor desc'
      const rows = await mergeRows(finder, lasts, { order, limit: 1 })
      return decodeRows(eventTable, rows)
    }
    if (query.newest === 'all') return findLast([sql<boolean>`1 = 1`])
    if (query.newest.length > dialect.mostNamed)
      return findOfMany(query.newest, finder, (parts) =>
        findLast(parts.map((part) => inPart(dialect, part))),
      )
    return findLast(distinctDestinations(query.newest).map(inDestination))
  }
  const { after, limit } = query
  if (query.destinations.length > dialect.mostNamed)
    return findOfMany(query.destinations, finder, async (parts) => {
      const found = parts.flatMap((part) =>
        sides.map((side) =>
          session
            .selectFrom(fromSide(side, 'events'))
            .selectAll()
            .where(inPart(dialect, part))
            .where('cursor', '>', after)
            .orderBy('cursor')
            .limit(BigInt(limit)),
        ),
      )
      const rows = await mergeRows(finder, found, { order: 'cursor', limit })
      return decodeRows(eventTable, rows)
    })
  const destinations = distinctDestinations(query.destinations)
  if (destinations.length === 0) return []
  const { rows } = await runQuery(finder, eventsAfter, {
    shape: { destinations: destinations.length, sides },
    values: withDestinations(destinations, {
      after,
      limit: BigInt(limit),
    }),
  })
  return decodeRows(eventTable, rows)
}

function eventsOfOrders(
  { session, dialect }: QueryPlace,
  { sides }: Sides,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const from = (side: Side) =>
    session
      .selectFrom(fromSide(side, 'events'))
      .selectAll()
      .where(dialect.among('order_id', 'text', slot('list')))
  return ofSides(sides, from, 'cursor').compile(session)
}

function eventsAfter(
  { session, dialect }: QueryPlace,
  { destinations, sides }: Sides & { destinations: number },
  slot: Slot<PageValues & { after: bigint }>,
): CompiledQuery<object> {
  const parts = Array.from({ length: destinations }, (_, at) =>
    sides.map((side) =>
      session
        .selectFrom(fromSide(side, 'events'))
        .selectAll()
        .orderBy('cursor')
        .where(inSlots(slot, at))
        .where('cursor', '>', slot('after'))
        .limit(slot('limit')),
    ),
  ).flat()
  return merge(dialect, parts, {
    order: 'cursor',
    limit: slot('limit'),
  }).compile(session)
}
