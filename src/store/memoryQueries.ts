import type { RowKeys, StagedTable } from './memoryTable.js'
import type {
  AttemptQuery,
  AttemptRecord,
  EventQuery,
  EventRecord,
  Lane,
  OrderQuery,
  OrderRecord,
  OrderState,
  ProofQuery,
  ProofRecord,
  Scope,
  TransactionQuery,
  TransactionRecord,
} from './types.js'

type Rows<row> = Omit<StagedTable<row>, 'staged'>

export const orderKeys: RowKeys<OrderRecord> = {
  table: 'orders',
  unique: ({ id }) => [id],
  words: () => [],
}

export const attemptKeys: RowKeys<AttemptRecord> = {
  table: 'attempts',
  unique: ({ orderId, number, nonce }) => [
    `${number} of ${orderId}`,
    `nonce ${nonce}`,
  ],
  words: ({ orderId, payer }) => [`order ${orderId}`, `payer ${payer}`],
}

export const transactionKeys: RowKeys<TransactionRecord> = {
  table: 'transactions',
  unique: ({ nonce, bump, ...lane }) => [
    `bump ${bump} at ${nonce} in ${laneWord(lane)}`,
  ],
  words: ({ orderId, hash, ...lane }) => [
    `order ${orderId}`,
    `hash ${hash}`,
    laneWord(lane),
  ],
}

export const proofKeys: RowKeys<ProofRecord> = {
  table: 'proofs',
  unique: ({ chainId, transactionHash, logIndex }) => [
    `log ${logIndex} of ${transactionHash} on ${chainId}`,
  ],
  words: ({ orderId, transactionHash }) => [
    `order ${orderId}`,
    `hash ${transactionHash}`,
  ],
}

export const eventKeys: RowKeys<EventRecord> = {
  table: 'events',
  unique: ({ cursor }) => [String(cursor)],
  words: ({ orderId }) => [`order ${orderId}`],
}

/** Answers a query for orders. */
export function findOrders(
  rows: Rows<OrderRecord>,
  query: OrderQuery,
): OrderRecord[] {
  if ('ids' in query)
    return [...new Set(query.ids)].flatMap((id) => rows.get(id) ?? [])
  return sort(
    rows.all().filter((row) => isWanted(row, query)),
    orderPlace(query),
  ).slice(0, query.limit)
}

/** How many orders of these scopes are in each state. */
export function countOrders(
  rows: Rows<OrderRecord>,
  scopes: readonly Scope[],
): Partial<Record<OrderState, number>> {
  const counts: Partial<Record<OrderState, number>> = {}
  for (const row of rows.all())
    if (isInScopes(row, scopes))
      counts[row.state] = (counts[row.state] ?? 0) + 1
  return counts
}

type OrderSearch = Exclude<OrderQuery, { ids: readonly string[] }>

function isWanted(row: OrderRecord, query: OrderSearch): boolean {
  if ('listed' in query) {
    const { listed, states = [row.state], payer = row.payer } = query
    const isBefore = row.position < (query.before ?? row.position + 1n)
    const isMeant = states.includes(row.state) && payer === row.payer
    return isBefore && isMeant && isInScopes(row, listed)
  }
  if ('sendDue' in query)
    return (
      isDue(row.sendDue, query.until) &&
      row.chainId === query.sendDue.chainId &&
      row.lane === query.sendDue.account &&
      query.recipients.includes(row.recipient)
    )
  if ('lookDue' in query)
    return isDue(row.lookDue, query.until) && isInScopes(row, [query.lookDue])
  if ('settled' in query)
    return (
      row.grade === query.grade &&
      row.settledBlock !== undefined &&
      row.settledBlock >= (query.fromBlock ?? 0n) &&
      row.settledBlock <= (query.toBlock ?? row.settledBlock) &&
      isInScopes(row, [query.settled])
    )
  return (
    row.payer !== undefined &&
    row.lookDue !== undefined &&
    row.position > (query.after ?? -1n) &&
    isInScopes(row, [query.open])
  )
}

function orderPlace(query: OrderSearch): (row: OrderRecord) => bigint[] {
  if ('listed' in query) return ({ position }) => [-position]
  if ('sendDue' in query)
    return ({ deadline, position }) => [deadline, position]
  if ('lookDue' in query)
    return ({ lookDue, position }) => [lookDue ?? 0n, position]
  if ('settled' in query)
    return ({ settledBlock, position }) => [settledBlock ?? 0n, position]
  return ({ position }) => [position]
}

/** Answers a query for attempts. */
export function findAttempts(
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
    .filter((row) => row.open && row.payer === payer)
    .filter((row) => row.chainId === chainId && row.token === token)
}

/** Answers a query for transactions. */
export function findTransactions(
  rows: Rows<TransactionRecord>,
  query: TransactionQuery,
): TransactionRecord[] {
  if ('orderIds' in query) return pickOrders(rows, query.orderIds)
  if ('hashes' in query)
    return rows
      .pick(query.hashes.map((hash) => `hash ${hash}`))
      .filter(({ chainId }) => chainId === query.chainId)
      .filter(({ hash }) => hash && query.hashes.includes(hash))
  const lane = 'at' in query ? query.at : query.openIn
  const found = rows
    .pick([laneWord(lane)])
    .filter((row) => laneWord(row) === laneWord(lane))
    .filter((row) => ('at' in query ? row.nonce === query.nonce : row.open))
  return sort(found, ({ nonce, bump }) => [BigInt(nonce), BigInt(bump)])
}

/** Answers a query for proofs. */
export function findProofs(
  rows: Rows<ProofRecord>,
  query: ProofQuery,
): ProofRecord[] {
  if ('orderIds' in query) return pickOrders(rows, query.orderIds)
  if ('hashes' in query)
    return rows
      .pick(query.hashes.map((hash) => `hash ${hash}`))
      .filter(({ chainId }) => chainId === query.chainId)
      .filter(({ transactionHash }) => query.hashes.includes(transactionHash))
  const { scopes, fromBlock = 0n, limit } = query
  const found = rows
    .all()
    .filter((row) => row.blockNumber >= fromBlock && isInScopes(row, scopes))
  return sort(found, ({ blockNumber, chainId, logIndex }) => [
    blockNumber,
    BigInt(chainId),
    BigInt(logIndex),
  ]).slice(0, limit)
}

/** Answers a query for events. */
export function findEvents(
  rows: Rows<EventRecord>,
  query: EventQuery,
): EventRecord[] {
  if ('orderIds' in query)
    return sort(pickOrders(rows, query.orderIds), ({ cursor }) => [cursor])
  const found: EventRecord[] = []
  let cursor = query.after > 0n ? query.after + 1n : 1n
  while (found.length < query.limit) {
    const row = rows.get(String(cursor++))
    if (!row) break
    if (isInScopes(row, query.scopes)) found.push(row)
  }
  return found
}

function pickOrders<row extends { orderId: string | undefined }>(
  rows: Rows<row>,
  orderIds: readonly string[],
): row[] {
  return rows
    .pick(orderIds.map((orderId) => `order ${orderId}`))
    .filter(
      ({ orderId }) => orderId !== undefined && orderIds.includes(orderId),
    )
}

function laneWord({ chainId, account }: Lane): string {
  return `lane ${account} on ${chainId}`
}

function isDue(due: bigint | undefined, until: bigint): boolean {
  return due !== undefined && due <= until
}

function isInScopes(row: Scope, scopes: readonly Scope[]): boolean {
  return scopes.some(
    ({ chainId, token, recipient }) =>
      row.chainId === chainId &&
      row.token === token &&
      row.recipient === recipient,
  )
}

function sort<row>(rows: row[], place: (row: row) => bigint[]): row[] {
  return rows.sort((left, right) => {
    const there = place(right)
    for (const [at, here] of place(left).entries()) {
      const other = there[at] ?? here
      if (here !== other) return here < other ? -1 : 1
    }
    return 0
  })
}
