import { sql } from 'kysely'
import type {
  AttemptQuery,
  AttemptRecord,
  EventQuery,
  EventRecord,
  ProofQuery,
  ProofRecord,
  TransactionQuery,
  TransactionRecord,
} from '../store/types.js'
import type { Finder } from './sqlOrders.js'
import { toBytes } from './tables/sqlColumns.js'
import {
  distinctDestinations,
  inDestination,
  inSubmitter,
  mergeRows,
} from './tables/sqlDestinations.js'
import { decodeRows } from './tables/sqlRows.js'
import {
  attemptTable,
  eventTable,
  proofTable,
  transactionTable,
} from './tables/sqlTables.js'

const isTrue = (column: 'spendable' | 'in_flight') =>
  sql<boolean>`${sql.ref(column)}`

/** Finds the attempts that a query selects. */
export async function findAttempts(
  { session, dialect }: Finder,
  query: AttemptQuery,
): Promise<AttemptRecord[]> {
  const attempts = session
    .selectFrom('attempts')
    .selectAll()
    .orderBy('order_id')
    .orderBy('number')
  if ('exposure' in query) {
    const { chainId, token, payer } = query.exposure
    const rows = await attempts
      .where('chain_id', '=', BigInt(chainId))
      .where('token', '=', toBytes(token))
      .where('payer', '=', toBytes(payer))
      .where(isTrue('spendable'))
      .execute()
    return decodeRows(attemptTable, rows)
  }
  const wanted =
    'nonces' in query
      ? dialect.among('nonce', 'bytes', query.nonces)
      : dialect.among('order_id', 'text', query.orderIds)
  return decodeRows(attemptTable, await attempts.where(wanted).execute())
}

/** Finds the transactions that a query selects. */
export async function findTransactions(
  { session, dialect }: Finder,
  query: TransactionQuery,
): Promise<TransactionRecord[]> {
  const transactions = session
    .selectFrom('transactions')
    .selectAll()
    .orderBy('nonce')
    .orderBy('bump')
  const found = () => {
    if ('orderIds' in query)
      return transactions.where(
        dialect.among('order_id', 'text', query.orderIds),
      )
    if ('hashes' in query)
      return transactions
        .where('chain_id', '=', BigInt(query.chainId))
        .where(dialect.among('hash', 'bytes', query.hashes))
    if ('inFlight' in query)
      return transactions
        .where(inSubmitter(query.inFlight, 'account'))
        .where(isTrue('in_flight'))
    return transactions
      .where(inSubmitter(query.at, 'account'))
      .where('nonce', '=', BigInt(query.nonce))
  }
  return decodeRows(transactionTable, await found().execute())
}

/** Finds the proofs that a query selects. */
export async function findProofs(
  { session, dialect }: Finder,
  query: ProofQuery,
): Promise<ProofRecord[]> {
  const proofs = session.selectFrom('proofs').selectAll()
  if ('destinations' in query) {
    const { destinations, fromBlock = 0n, limit } = query
    const parts = distinctDestinations(destinations).map((destination) =>
      proofs
        .where(inDestination(destination))
        .where('block_number', '>=', fromBlock)
        .orderBy('block_number')
        .orderBy('log_index')
        .limit(BigInt(limit)),
    )
    const order = 'block_number, chain_id, log_index'
    const rows = await mergeRows(session, parts, { order, limit })
    return decodeRows(proofTable, rows)
  }
  const found =
    'orderIds' in query
      ? proofs.where(dialect.among('order_id', 'text', query.orderIds))
      : proofs
          .where('chain_id', '=', BigInt(query.chainId))
          .where(dialect.among('transaction_hash', 'bytes', query.hashes))
  const ordered = found.orderBy('block_number').orderBy('log_index')
  return decodeRows(proofTable, await ordered.execute())
}

/** Finds the events that a query selects. */
export async function findEvents(
  { session, dialect }: Finder,
  query: EventQuery,
): Promise<EventRecord[]> {
  const events = session.selectFrom('events').selectAll().orderBy('cursor')
  if ('orderIds' in query) {
    const wanted = dialect.among('order_id', 'text', query.orderIds)
    return decodeRows(eventTable, await events.where(wanted).execute())
  }
  if ('newest' in query) {
    const last = session
      .selectFrom('events')
      .selectAll()
      .orderBy('cursor', 'desc')
      .limit(1n)
    if (query.newest === 'all')
      return decodeRows(eventTable, await last.execute())
    const lasts = distinctDestinations(query.newest).map((destination) =>
      last.where(inDestination(destination)),
    )
    const order = 'cursor desc'
    const rows = await mergeRows(session, lasts, { order, limit: 1 })
    return decodeRows(eventTable, rows)
  }
  const { destinations, after, limit } = query
  const parts = distinctDestinations(destinations).map((destination) =>
    events
      .where(inDestination(destination))
      .where('cursor', '>', after)
      .limit(BigInt(limit)),
  )
  const rows = await mergeRows(session, parts, { order: 'cursor', limit })
  return decodeRows(eventTable, rows)
}
