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
  type TransactionRow,
  transactionTable,
} from './tables/sqlTables.js'

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
    shape: { by },
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
  { by }: { by: 'nonce' | 'order_id' },
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const kind = by === 'nonce' ? 'bytes' : 'text'
  return session
    .selectFrom('attempts')
    .selectAll()
    .orderBy('order_id')
    .orderBy('number')
    .where(dialect.among(by, kind, slot('list')))
    .compile()
}

export async function findTransactions(
  finder: Finder,
  query: TransactionQuery,
): Promise<TransactionRow[]> {
  const { session, dialect } = finder
  if ('orderIds' in query) {
    const list = dialect.listOf('text', query.orderIds)
    const { rows } = await runQuery(finder, transactionsOfOrders, {
      shape: {},
      values: { list },
    })
    return decodeRows(transactionTable, rows)
  }
  const transactions = session
    .selectFrom('transactions')
    .selectAll()
    .orderBy('nonce')
    .orderBy('bump')
  const found = () => {
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
        .limit(BigInt(query.limit))
    return transactions
      .where(inSubmitter(query.at, 'account'))
      .where('nonce', '=', BigInt(query.nonce))
  }
  return decodeRows(transactionTable, await found().execute())
}

function transactionsOfOrders(
  { session, dialect }: QueryPlace,
  _: object,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  const further = session
    .selectFrom('movements')
    .innerJoin('transactions', (join) =>
      join
        .onRef('transactions.chain_id', '=', 'movements.chain_id')
        .onRef('transactions.account', '=', 'movements.account')
        .onRef('transactions.nonce', '=', 'movements.nonce')
        .onRef('transactions.bump', '=', 'movements.bump'),
    )
    .selectAll('transactions')
    .where(dialect.among('movements.order_id', 'text', slot('list')))
  // `union` leaves out a transaction that several of the orders find.
  return session
    .selectFrom('transactions')
    .selectAll()
    .where(dialect.among('order_id', 'text', slot('list')))
    .union(further)
    .orderBy('nonce')
    .orderBy('bump')
    .compile()
}

export async function findProofs(
  finder: Finder,
  query: ProofQuery,
): Promise<ProofRecord[]> {
  const { session, dialect } = finder
  if ('destinations' in query) {
    const { fromBlock = 0n, limit } = query
    if (query.destinations.length > dialect.mostNamed)
      return findOfMany(query.destinations, finder, async (parts) => {
        const found = parts.map((part) =>
          session
            .selectFrom('proofs')
            .selectAll()
            .where(inPart(dialect, part))
            .where('block_number', '>=', fromBlock)
            .orderBy('block_number')
            .orderBy('log_index')
            .limit(BigInt(limit)),
        )
        const order = 'block_number, chain_id, log_index'
        const rows = await mergeRows(finder, found, { order, limit })
        return decodeRows(proofTable, rows)
      })
    const destinations = distinctDestinations(query.destinations)
    if (destinations.length === 0) return []
    const { rows } = await runQuery(finder, proofsFrom, {
      shape: { destinations: destinations.length },
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
      shape: {},
      values: { list },
    })
    return decodeRows(proofTable, rows)
  }
  const hashes = dialect.listOf('bytes', query.hashes)
  const rows = await session
    .selectFrom('proofs')
    .selectAll()
    .where('chain_id', '=', BigInt(query.chainId))
    .where(dialect.among('transaction_hash', 'bytes', hashes))
    .orderBy('block_number')
    .orderBy('log_index')
    .execute()
  return decodeRows(proofTable, rows)
}

type PageValues = DestinationValues & { limit: bigint }

function proofsFrom(
  { session, dialect }: QueryPlace,
  { destinations }: { destinations: number },
  slot: Slot<PageValues & { fromBlock: bigint }>,
): CompiledQuery<object> {
  const parts = Array.from({ length: destinations }, (_, at) =>
    session
      .selectFrom('proofs')
      .selectAll()
      .where(inSlots(slot, at))
      .where('block_number', '>=', slot('fromBlock'))
      .orderBy('block_number')
      .orderBy('log_index')
      .limit(slot('limit')),
  )
  const order = 'block_number, chain_id, log_index'
  return merge(dialect, parts, { order, limit: slot('limit') }).compile(session)
}

function proofsOfOrders(
  { session, dialect }: QueryPlace,
  _: object,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  return session
    .selectFrom('proofs')
    .selectAll()
    .where(dialect.among('order_id', 'text', slot('list')))
    .orderBy('block_number')
    .orderBy('log_index')
    .compile()
}

export async function findEvents(
  finder: Finder,
  query: EventQuery,
): Promise<EventRecord[]> {
  const { session, dialect } = finder
  if ('orderIds' in query) {
    const list = dialect.listOf('text', query.orderIds)
    const { rows } = await runQuery(finder, eventsOfOrders, {
      shape: {},
      values: { list },
    })
    return decodeRows(eventTable, rows)
  }
  if ('newest' in query) {
    const last = session
      .selectFrom('events')
      .selectAll()
      .orderBy('cursor', 'desc')
      .limit(1n)
    if (query.newest === 'all')
      return decodeRows(eventTable, await last.execute())
    const findLast = async (conditions: readonly RawBuilder<boolean>[]) => {
      const lasts = conditions.map((condition) => last.where(condition))
      const order = 'cursor desc'
      const rows = await mergeRows(finder, lasts, { order, limit: 1 })
      return decodeRows(eventTable, rows)
    }
    if (query.newest.length > dialect.mostNamed)
      return findOfMany(query.newest, finder, (parts) =>
        findLast(parts.map((part) => inPart(dialect, part))),
      )
    return findLast(distinctDestinations(query.newest).map(inDestination))
  }
  const { after, limit } = query
  if (query.destinations.length > dialect.mostNamed)
    return findOfMany(query.destinations, finder, async (parts) => {
      const found = parts.map((part) =>
        session
          .selectFrom('events')
          .selectAll()
          .where(inPart(dialect, part))
          .where('cursor', '>', after)
          .orderBy('cursor')
          .limit(BigInt(limit)),
      )
      const rows = await mergeRows(finder, found, { order: 'cursor', limit })
      return decodeRows(eventTable, rows)
    })
  const destinations = distinctDestinations(query.destinations)
  if (destinations.length === 0) return []
  const { rows } = await runQuery(finder, eventsAfter, {
    shape: { destinations: destinations.length },
    values: withDestinations(destinations, {
      after,
      limit: BigInt(limit),
    }),
  })
  return decodeRows(eventTable, rows)
}

function eventsOfOrders(
  { session, dialect }: QueryPlace,
  _: object,
  slot: Slot<{ list: SqlList }>,
): CompiledQuery<object> {
  return session
    .selectFrom('events')
    .selectAll()
    .orderBy('cursor')
    .where(dialect.among('order_id', 'text', slot('list')))
    .compile()
}

function eventsAfter(
  { session, dialect }: QueryPlace,
  { destinations }: { destinations: number },
  slot: Slot<PageValues & { after: bigint }>,
): CompiledQuery<object> {
  const parts = Array.from({ length: destinations }, (_, at) =>
    session
      .selectFrom('events')
      .selectAll()
      .orderBy('cursor')
      .where(inSlots(slot, at))
      .where('cursor', '>', slot('after'))
      .limit(slot('limit')),
  )
  return merge(dialect, parts, {
    order: 'cursor',
    limit: slot('limit'),
  }).compile(session)
}
