import type { Hash } from 'viem'
import { indexDestinations } from './isInDestinations.js'
import { type Rows, sortRows } from './memoryRows.js'
import type { RowKeys } from './memoryTable.js'
import type {
  AttemptQuery,
  AttemptRecord,
  EventQuery,
  EventRecord,
  ProofQuery,
  ProofRecord,
  Submitter,
  TransactionQuery,
  TransactionRecord,
} from './types.js'

export const attemptKeys: RowKeys<AttemptRecord> = {
  table: 'attempts',
  identity: ({ orderId, number }) => `${number} of ${orderId}`,
  unique: ({ nonce }) => [`nonce ${nonce}`],
  words: ({ orderId, payer }) => [`order ${orderId}`, `payer ${payer}`],
}

export const transactionKeys: RowKeys<TransactionRecord> = {
  table: 'transactions',
  identity: (row) =>
    `bump ${row.bump} at ${row.nonce} in ${submitterWord(row)}`,
  words: (row) => [
    ...row.movements.map(({ orderId }) => `order ${orderId}`),
    `hash ${row.hash}`,
    submitterWord(row),
  ],
}

export const proofKeys: RowKeys<ProofRecord> = {
  table: 'proofs',
  identity: ({ chainId, transactionHash, logIndex }) =>
    `log ${logIndex} of ${transactionHash} on ${chainId}`,
  words: ({ orderId, transactionHash }) => [
    `order ${orderId}`,
    `hash ${transactionHash}`,
  ],
}

export const eventKeys: RowKeys<EventRecord> = {
  table: 'events',
  identity: ({ cursor }) => String(cursor),
  words: ({ orderId }) => [`order ${orderId}`],
}

export function filterAttempts(
  rows: Rows<AttemptRecord>,
  query: AttemptQuery,
): AttemptRecord[] {
  if ('orderIds' in query) return pickOrders(rows, query.orderIds)
  if ('nonces' in query)
    return rows
      .pick(query.nonces.map((nonce) => `nonce ${nonce}`))
      .filter(({ nonce }) => query.nonces.includes(nonce))
  const { chainId, token, payer } = query.exposure
  return rows
    .pick([`payer ${payer}`])
    .filter((row) => row.spendable && row.payer === payer)
    .filter((row) => row.chainId === chainId && row.token === token)
}

export function filterTransactions(
  rows: Rows<TransactionRecord>,
  query: TransactionQuery,
): TransactionRecord[] {
  if ('orderIds' in query) return pickCarried(rows, query.orderIds)
  if ('hashes' in query)
    return rows
      .pick(query.hashes.map((hash) => `hash ${hash}`))
      .filter(({ chainId }) => chainId === query.chainId)
      .filter(({ hash }) => hash && query.hashes.includes(hash))
  const submitter = submitterOf(query)
  const found = rows
    .pick([submitterWord(submitter)])
    .filter((row) => submitterWord(row) === submitterWord(submitter))
    .filter((row) => isSelected(row, query))
  const sorted = sortRows(found, ({ nonce, bump }) => [
    BigInt(nonce),
    BigInt(bump),
  ])
  return 'sentBy' in query ? sorted.slice(0, query.limit) : sorted
}

/** Selects transactions by the account that submits them. */
type SubmitterQuery = Exclude<
  TransactionQuery,
  { orderIds: readonly string[] } | { hashes: readonly Hash[] }
>

function submitterOf(query: SubmitterQuery): Submitter {
  if ('sentBy' in query) return query.sentBy
  return 'at' in query ? query.at : query.inFlight
}

function isSelected(row: TransactionRecord, query: SubmitterQuery): boolean {
  if ('sentBy' in query) return row.nonce >= query.fromNonce
  return 'at' in query ? row.nonce === query.nonce : row.inFlight
}

export function filterProofs(
  rows: Rows<ProofRecord>,
  query: ProofQuery,
): ProofRecord[] {
  if ('orderIds' in query) return pickOrders(rows, query.orderIds)
  if ('hashes' in query)
    return rows
      .pick(query.hashes.map((hash) => `hash ${hash}`))
      .filter(({ chainId }) => chainId === query.chainId)
      .filter(({ transactionHash }) => query.hashes.includes(transactionHash))
  const { destinations, fromBlock = 0n, limit } = query
  const { has } = indexDestinations(destinations)
  const found = rows
    .all()
    .filter((row) => row.blockNumber >= fromBlock && has(row))
  return sortRows(found, ({ blockNumber, chainId, logIndex }) => [
    blockNumber,
    BigInt(chainId),
    BigInt(logIndex),
  ]).slice(0, limit)
}

export function filterEvents(
  rows: Rows<EventRecord>,
  query: EventQuery,
): EventRecord[] {
  if ('orderIds' in query)
    return sortRows(pickOrders(rows, query.orderIds), ({ cursor }) => [cursor])
  if ('newest' in query) {
    const { newest } = query
    const has = newest === 'all' ? () => true : indexDestinations(newest).has
    return rows
      .all()
      .filter(has)
      .sort((one, other) => (one.cursor < other.cursor ? 1 : -1))
      .slice(0, 1)
  }
  const { has } = indexDestinations(query.destinations)
  const found: EventRecord[] = []
  let cursor = query.after > 0n ? query.after + 1n : 1n
  while (found.length < query.limit) {
    const row = rows.get(String(cursor++))
    if (!row) break
    if (has(row)) found.push(row)
  }
  return found
}

function pickCarried(
  rows: Rows<TransactionRecord>,
  orderIds: readonly string[],
): TransactionRecord[] {
  const wanted: ReadonlySet<string> = new Set(orderIds)
  return rows
    .pick(orderIds.map((orderId) => `order ${orderId}`))
    .filter(({ movements }) =>
      movements.some(({ orderId }) => wanted.has(orderId)),
    )
}

function pickOrders<row extends { orderId: string | undefined }>(
  rows: Rows<row>,
  orderIds: readonly string[],
): row[] {
  const wanted: ReadonlySet<string | undefined> = new Set(orderIds)
  return rows
    .pick(orderIds.map((orderId) => `order ${orderId}`))
    .filter(({ orderId }) => wanted.has(orderId))
}

function submitterWord({ chainId, account }: Submitter): string {
  return `submitter ${account} on ${chainId}`
}
