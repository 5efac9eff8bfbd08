import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { addAll } from '../../core/addAll.js'
import { endOfTime } from '../../core/clock.js'
import type { Destination } from '../../store/types.js'
import { findBlockAt } from '../evidence/findBlockAt.js'
import { findCanonical, type SeenBlock } from '../evidence/findCanonical.js'
import {
  getPaymentLogs,
  getSpentLogs,
  getTransfers,
} from '../evidence/getPaymentLogs.js'
import type { MissingReceipt } from '../evidence/getTimedReceipts.js'
import { type Changes, joinChanges } from '../model/changes.js'
import { isRefundRowId } from '../model/refundRow.js'
import type { OrdersContext } from '../model/types.js'
import { adoptUnknown } from './adoptUnknown.js'
import { askSeparately } from './askSeparately.js'
import {
  addSeen,
  type DestinationCursor,
  loadCursor,
  lowerOf,
  moveCursor,
  nextWalk,
  type OpenWalk,
} from './destinationCursor.js'
import { settleLogs } from './settleLogs.js'
import { openApart } from './tryStep.js'
import type { Watch } from './watchState.js'

/** The name of this step in the list of failures. */
export const reconciliationStep = 'reconciliation'

/** Number of blocks before the cursor to read again. */
const overlap = 64n

/** Maximum number of orders read to find the oldest one. */
const mostAsked = 1000

/** The blocks that a reconciliation read, and the number of new findings. */
export type DestinationReconciliation = {
  destination: Destination
  fromBlock: bigint
  toBlock: bigint
  /** Payments of orders, unexpected ones included. */
  captured: number
  canceled: number
  consumed: number
  /** Payments of orders that were given up before: refund them. */
  unexpected: number
  /** Additional payments of paid orders. */
  overpaid: number
  /** Payments without an order. */
  unmatched: number
}

/**
 * Reads every payment to a destination since some blocks before its cursor, and
 * what spent the nonces of open orders. Writes what is missing on record. Moves
 * the cursor once everything is written, with or without the lease.
 *
 * Asks about at most 4,000 open orders, or about all with `isAll`. If there are
 * more, the next reconciliation continues with the others, and asks about all
 * blocks since their last turn.
 *
 * Puts transactions aside whose receipts the node does not give. The cursor
 * stays below them, so that later reconciliations read them again.
 *
 * @throws {@link NodeAnswerError} when the answers contradict each other, as
 * during a reorganization. The cursor then stays.
 * @throws {@link LogRangeError} {@link NodeError} when the node refuses or does
 * not answer.
 */
export async function reconcileDestination(
  context: OrdersContext,
  watch: Watch & {
    /** Starts at the last final block. */
    isDeep: boolean
    /** Asks about all open orders. */
    isAll: boolean
    /** Maximum number of open orders to ask about at a time. */
    mostOpen?: number | undefined
    /** First block to read, instead of the one the cursor gives. */
    fromBlock?: bigint | undefined
  },
): Promise<DestinationReconciliation> {
  const { destination, heads, memory } = watch
  // Reading up to a block that does not exist might never end.
  await heads.confirm()
  const { cursor, fromBlock, isWhole } = await findStart(context, watch)
  const { number: toBlock, hash } = heads.latest
  const range = { fromBlock, toBlock }
  const { changes, missing, walk } = await readRange(
    context,
    watch,
    range,
    cursor?.walk,
  )
  if (watch.isDeep) await adoptUnknown(context, watch, range)
  putMissingAside(watch, missing)
  const seen = addSeen(memory.seen ?? cursor?.seen ?? [], heads.latest)
  const oldest = cursor && cursor.from < fromBlock ? cursor.from : fromBlock
  const held = await holdBelow(watch, missing)
  const last = held ?? { number: toBlock, hash }
  const after = { from: oldest, last, seen, walk }
  if (isWhole) await moveCursor(context, watch, { before: cursor, after })
  const countOf = (wanted: string) =>
    changes.events.filter(
      ({ type, orderId }) => type === wanted && !isRefundRowId(orderId),
    ).length
  return {
    destination,
    ...range,
    captured: countOf('captured'),
    canceled: countOf('canceled'),
    consumed: countOf('consumed'),
    unexpected: countOf('refundDue'),
    overpaid: countOf('overpaid'),
    unmatched: countOf('unmatched'),
  }
}

function putMissingAside(
  watch: Watch,
  missing: readonly MissingReceipt[],
): void {
  const time = watch.heads.latest.timestamp
  const apart = openApart(watch, { step: reconciliationStep, time })
  for (const { transactionHash, error } of missing)
    if (!apart.isWaiting(transactionHash)) apart.put(transactionHash, error)
  apart.close()
}

/** The block before the lowest one that lacks a receipt. */
async function holdBelow(
  { client }: Watch,
  missing: readonly MissingReceipt[],
): Promise<SeenBlock | undefined> {
  const lowest = lowestOf(missing)
  if (lowest === undefined) return undefined
  const number = lowest - 1n
  const hash = (await getBlockTimes(client, [number])).get(number)?.hash
  if (hash) return { number, hash }
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `names no block ${number}`,
  })
}

function lowestOf(missing: readonly MissingReceipt[]): bigint | undefined {
  return missing.reduce<bigint | undefined>(
    (lowest, { blockNumber }) => lowerOf(lowest, blockNumber),
    undefined,
  )
}

/** Writes what a range shows. Returns where the walk continues. */
async function readRange(
  context: OrdersContext,
  watch: Watch & { isAll: boolean; mostOpen?: number | undefined },
  range: { fromBlock: bigint; toBlock: bigint },
  walk: OpenWalk | undefined,
): Promise<{
  changes: Changes
  missing: readonly MissingReceipt[]
  walk: OpenWalk | undefined
}> {
  const { client, destination, isAll, mostOpen: most } = watch
  const { fromBlock, toBlock } = range
  const start = isAll ? undefined : walk?.after
  const since = lowerOf(walk?.since, fromBlock)
  // First, so that their transfers do not count as payments without an order.
  const asked = await askSeparately(context, watch, {
    after: start,
    most: isAll ? Number.POSITIVE_INFINITY : most,
  })
  const first = { after: start, since, most }
  const logs = await getPaymentLogs(context, client, destination, {
    ...range,
    part: first,
  })
  const settled = await settleLogs(context, watch, logs)
  const written = [asked, settled.changes]
  const missing = [...settled.missing]
  let { after } = logs
  while (isAll && after !== undefined) {
    const part = { after, since, most }
    const more = await getSpentLogs(context, client, destination, {
      toBlock,
      part,
    })
    const { spent } = more
    const found = await settleLogs(context, watch, { transfers: [], spent })
    written.push(found.changes)
    addAll(missing, found.missing)
    after = more.after
  }
  const isWhole = start === undefined
  // The next round asks again about the blocks that lack a receipt.
  const lowest = lowerOf(lowestOf(missing), fromBlock)
  return {
    changes: joinChanges(written),
    missing,
    walk: nextWalk(walk, { fromBlock: lowest, after, isAll: isWhole }),
  }
}

/**
 * Writes transfers to a destination since its cursor that are not on record.
 * Only this finds payments of drafts without a payer, because without the payer
 * we cannot ask for the nonce.
 *
 * Does not move the cursor: a reconciliation reads everything that this skips.
 *
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * the node refuses, does not answer, or its answer is incomplete or mixes two
 * chains.
 */
export async function settleTransfers(
  context: OrdersContext,
  watch: Watch,
): Promise<void> {
  const { client, destination, heads } = watch
  const { fromBlock } = await findStart(context, { ...watch, isDeep: false })
  const range = { fromBlock, toBlock: heads.latest.number }
  const transfers = await getTransfers(context, client, destination, range)
  const { missing } = await settleLogs(context, watch, { transfers, spent: [] })
  // A draft may be paid by one of them.
  if (missing[0]) throw missing[0].error
}

/**
 * Finds where a reconciliation begins: before the cursor, as far back as the
 * chain may have changed since. Without a cursor, at the block of the oldest
 * open order.
 *
 * @throws {@link NodeAnswerError} when the node is behind the cursor. Does not
 * throw if `checkReorg` dropped the block of the cursor, or if `fromBlock` is
 * given.
 */
async function findStart(
  context: OrdersContext,
  watch: Watch & { isDeep: boolean; fromBlock?: bigint | undefined },
): Promise<{
  cursor: DestinationCursor | undefined
  fromBlock: bigint
  /** True when no block between the cursor and the start is skipped. */
  isWhole: boolean
}> {
  const { destination, heads, fromBlock: wanted } = watch
  const cursor = await context.store.read((tables) =>
    loadCursor(tables, destination),
  )
  if (!cursor) {
    const fromBlock = wanted ?? (await findOldest(context, watch))
    return { cursor, fromBlock, isWhole: true }
  }
  const { last, seen } = await findLast(watch, cursor)
  const kept = { ...cursor, seen }
  if (wanted !== undefined)
    return { cursor: kept, fromBlock: wanted, isWhole: wanted <= last + 1n }
  const { isDeep } = watch
  const near = last + 1n - overlap
  const final = isDeep ? heads.finalized?.number : undefined
  const low = final !== undefined && final < near ? final : near
  const fromBlock = low < cursor.from ? cursor.from : low
  return { cursor: kept, fromBlock, isWhole: true }
}

/** The last reconciled block that is still in the chain. */
async function findLast(
  {
    client,
    heads: { latest, finalized },
    memory: { dropped = -1n },
    fromBlock,
  }: Watch & { fromBlock?: bigint | undefined },
  cursor: DestinationCursor,
): Promise<{ last: bigint; seen: DestinationCursor['seen'] }> {
  const { number } = cursor.last
  const { canonical } = await findCanonical(client, [cursor.last])
  if (canonical.length) return { last: number, seen: cursor.seen }
  const { canonical: seen, isReorged } = await findCanonical(
    client,
    cursor.seen,
  )
  const isGivenUp = fromBlock !== undefined || number <= dropped
  if (!isReorged && !isGivenUp && latest.number < number)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `is older than block ${number}, which was read before`,
    })
  const deepest = cursor.seen[0]?.number ?? number
  const final = finalized?.number ?? deepest
  const lowest = final < deepest ? final : deepest
  return { last: seen.at(-1)?.number ?? lowest, seen }
}

async function findOldest(
  { store }: OrdersContext,
  { client, destination, heads }: Watch,
): Promise<bigint> {
  const found = await store.read(async ({ orders }) => [
    ...(await orders.find({ unsettled: destination, limit: 1 })),
    ...(await orders.find({
      lookDue: destination,
      until: endOfTime,
      limit: mostAsked,
    })),
  ])
  const { latest } = heads
  const oldest = found.reduce(
    (low, { createdAt }) => (createdAt < low ? createdAt : low),
    latest.timestamp,
  )
  return found.length ? findBlockAt(client, oldest, latest) : latest.number
}
