import { type DestinationIndex, indexDestinations } from './isInDestinations.js'
import { isListed } from './listedRoles.js'
import { type Rows, sortRows } from './memoryRows.js'
import type { RowKeys } from './memoryTable.js'
import type {
  Destination,
  EarlyQuery,
  EarlyRow,
  OrderCount,
  OrderQuery,
  OrderRecord,
  OrderRole,
  OrderState,
} from './types.js'

export const orderKeys: RowKeys<OrderRecord> = {
  table: 'orders',
  identity: ({ id }) => id,
  words: ({ parentId, early }) => [`children of ${parentId}`, `early ${early}`],
}

export function filterOrders(
  rows: Rows<OrderRecord>,
  query: OrderQuery,
): OrderRecord[] {
  if ('ids' in query)
    return [...new Set(query.ids)].flatMap((id) => rows.get(id) ?? [])
  if ('needReview' in query)
    return filterOrders(rows, { ids: query.needReview }).filter(
      ({ needsReview }) => needsReview,
    )
  if ('refundsOf' in query)
    return sortRows(
      pickChildren(rows, 'refund', query.refundsOf),
      ({ position }) => [position],
    )
  if ('chargesOf' in query) return findCharges(rows, query)
  const meant = indexDestinations(destinationsOf(query))
  return sortRows(
    rows.all().filter((row) => isWanted(row, query, meant)),
    orderPlace(query),
  ).slice(0, query.limit)
}

function pickChildren(
  rows: Rows<OrderRecord>,
  role: OrderRole,
  parents: readonly string[],
): OrderRecord[] {
  const wanted: ReadonlySet<string | undefined> = new Set(parents)
  return rows
    .pick(parents.map((id) => `children of ${id}`))
    .filter((row) => row.role === role && wanted.has(row.parentId))
}

type ChargeSearch = Extract<OrderQuery, { chargesOf: string }>

function findCharges(
  rows: Rows<OrderRecord>,
  { chargesOf, before, limit }: ChargeSearch,
): OrderRecord[] {
  const found = pickChildren(rows, 'charge', [chargesOf]).filter(
    ({ position }) => before === undefined || position < before,
  )
  return sortRows(found, ({ position }) => [-position]).slice(0, limit)
}

export function countStates(
  rows: Rows<OrderRecord>,
  destinations: readonly Destination[],
): Partial<Record<OrderState, number>> {
  const counts: Partial<Record<OrderState, number>> = {}
  for (const { state, count } of countEachState(rows, destinations))
    counts[state] = (counts[state] ?? 0) + count
  return counts
}

/** Counts the orders in each state, separately for each destination. */
export function countEachState(
  rows: Rows<OrderRecord>,
  destinations: readonly Destination[],
): OrderCount[] {
  const { has } = indexDestinations(destinations)
  const counts = new Map<string, OrderCount>()
  for (const row of rows.all()) {
    if (!isListed(row) || !has(row)) continue
    const { chainId, token, recipient, state } = row
    const key = `${chainId} ${token} ${recipient} ${state}`
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { chainId, token, recipient, state, count })
  }
  return [...counts.values()]
}

/**
 * Finds the orders of a token that were answered before their capture was in a
 * block, by the state of this early answer.
 */
export function filterEarly(
  rows: Rows<OrderRecord>,
  { chainId, token, early }: EarlyQuery,
): EarlyRow[] {
  const wanted: readonly unknown[] = early
  const found = rows
    .pick(early.map((state) => `early ${state}`))
    .filter(
      (row) =>
        wanted.includes(row.early) &&
        row.chainId === chainId &&
        row.token === token,
    )
  return sortRows(found, ({ position }) => [position]).map(
    ({ id, recipient, payer, value, captureValue, earlyFor }) => ({
      id,
      recipient,
      payer,
      value,
      captureValue,
      earlyFor,
    }),
  )
}

export type OrderSearch = Exclude<
  OrderQuery,
  | { ids: readonly string[] }
  | { needReview: readonly string[] }
  | { refundsOf: readonly string[] }
  | ChargeSearch
>

export function destinationsOf(query: OrderSearch): readonly Destination[] {
  if ('sendDue' in query) return []
  if ('listed' in query) return query.listed
  if ('lookDue' in query) return query.lookDue
  if ('settled' in query) return query.settled
  if ('oldest' in query) return [query.oldest]
  return 'refundsDue' in query ? query.refundsDue : query.unsettled
}

function isWanted(
  row: OrderRecord,
  query: OrderSearch,
  meant: DestinationIndex,
): boolean {
  if ('listed' in query) {
    const { states = [row.state], payer = row.payer } = query
    const isBefore = row.position < (query.before ?? row.position + 1n)
    const isMeant = states.includes(row.state) && payer === row.payer
    return isListed(row) && isBefore && isMeant && meant.has(row)
  }
  if ('sendDue' in query)
    return (
      isDue(row.sendDue, query.until) &&
      row.chainId === query.sendDue.chainId &&
      row.submitter === query.sendDue.account &&
      query.recipients.includes(row.recipient)
    )
  if ('lookDue' in query)
    return isDue(row.lookDue, query.until) && meant.has(row)
  if ('settled' in query)
    return (
      row.finality === query.finality &&
      row.settledBlock !== undefined &&
      row.settledBlock >= (query.fromBlock ?? 0n) &&
      row.settledBlock <= (query.toBlock ?? row.settledBlock) &&
      meant.has(row)
    )
  if ('oldest' in query) return meant.has(row)
  if ('refundsDue' in query)
    return (
      row.role === 'refund' &&
      row.state === 'drafted' &&
      row.position > (query.after ?? -1n) &&
      meant.has(row)
    )
  return (
    row.payer !== undefined &&
    row.lookDue !== undefined &&
    row.position > (query.after ?? -1n) &&
    meant.has(row)
  )
}

/** Lowest first. */
export function orderPlace(query: OrderSearch): (row: OrderRecord) => bigint[] {
  if ('listed' in query) return ({ position }) => [-position]
  if ('sendDue' in query)
    return ({ deadline, position }) => [deadline, position]
  if ('lookDue' in query)
    return ({ lookDue, position }) => [lookDue ?? 0n, position]
  if ('settled' in query)
    return ({ settledBlock, position }) => [settledBlock ?? 0n, position]
  return ({ position }) => [position]
}

function isDue(due: bigint | undefined, until: bigint): boolean {
  return due !== undefined && due <= until
}
