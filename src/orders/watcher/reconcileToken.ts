import type { Address } from 'viem'
import { askInParts, halve } from '../../chain/logs/askInParts.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { addAll } from '../../core/addAll.js'
import { endOfTime } from '../../core/clock.js'
import { lowerOf } from '../../core/lowerOf.js'
import { parseMovementId } from '../../core/movementIds.js'
import { inTime } from '../../core/wait.js'
import { LeaseLostError } from '../../store/errors.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findCanonical, type SeenBlock } from '../evidence/findCanonical.js'
import {
  getPaymentLogs,
  getSpentLogs,
  getTransfers,
} from '../evidence/getPaymentLogs.js'
import type { MissingReceipt } from '../evidence/getTimedReceipts.js'
import { type Changes, joinChanges } from '../model/changes.js'
import { isRefundRowId } from '../model/refundRow.js'
import { adoptUnknown } from './adoptUnknown.js'
import { askSeparately } from './askSeparately.js'
import {
  addSeen,
  type CursorMove,
  type DestinationCursor,
  leaveSharedCursor,
  loadCursor,
  loadSharedCursor,
  moveCursor,
  moveSharedCursor,
  nextWalk,
  type OpenWalk,
  type Places,
  placeRecipients,
} from './destinationCursor.js'
import { settleLogs } from './settleLogs.js'
import { openApart } from './tryStep.js'
import { watchKey } from './watchKeys.js'
import type { TokenWatch, Watch } from './watchState.js'

/** Name of this step in the list of failures. */
export const reconciliationStep = 'reconciliation'

/**
 * Number of blocks before the last block read that are read again, because a
 * reorg may have changed them.
 */
const overlap = 64n

/** Most orders to read in order to find the oldest one. */
const mostAsked = 1000

/** Most recipients that are read separately at the same time. */
const mostAlone = 20

/**
 * Milliseconds that a poll waits for recipients that are read separately; they
 * then continue in the background.
 */
const patience = 500

/**
 * The blocks that a reconciliation read, and how many missing rows it found
 * there.
 */
export type DestinationReconciliation = {
  destination: Destination
  fromBlock: bigint
  toBlock: bigint
  /** Payments of orders, including unexpected ones. */
  captured: number
  canceled: number
  consumed: number
  /** Payments of orders that had ended unpaid; they have to be refunded. */
  unexpected: number
  /** Further payments of orders that were paid already. */
  overpaid: number
  /** Payments that belong to no order. */
  unmatched: number
}

/** Which blocks and orders a reconciliation covers. */
type Reading = {
  /**
   * True to start at the last final block instead of some blocks before the
   * cursor.
   */
  isDeep: boolean
  /** True to ask about all open orders at once. */
  isAll: boolean
  /** Most open orders to ask about in one reconciliation. */
  mostOpen?: number | undefined
  /**
   * First block to read.
   * @default some blocks before the last block read
   */
  fromBlock?: bigint | undefined
}

/**
 * Reads every payment to the recipients of a token, and the logs that used or
 * canceled payment nonces of open orders. Starts some blocks before the cursor,
 * which is the last block read. Writes what the store lacks, then moves the
 * cursor.
 *
 * Recipients with the same cursor share one query of logs. A recipient is read
 * separately while it is behind, because it was added or because the node
 * refuses its logs, so that it delays no other.
 *
 * Asks about at most 4,000 open orders, or about all with `isAll`. If there are
 * more, the next reconciliation asks about the rest, in all blocks since it
 * last asked about those.
 *
 * @throws {@link NodeAnswerError} when the answers contradict each other, as
 * during a reorganization. The cursor then stays.
 * @throws {@link LogRangeError} {@link NodeError} when the node refuses or does
 * not answer.
 */
export async function reconcileToken(
  context: OrdersContext,
  watch: TokenWatch & Reading,
): Promise<void> {
  // Check that the node really has its newest block: waiting for the logs of a
  // block that does not exist might never end.
  await watch.heads.confirm()
  const places = await loadPlaces(context, watch)
  await joinCaughtUp(context, watch, places)
  const catching = catchUpBeside(context, watch, places)
  await readInStep(context, watch, places)
  await inTime<unknown>(catching, patience, () => undefined)
}

/**
 * Lets recipients that have caught up use the shared cursor. A recipient that
 * is behind again, because the chain grew meanwhile, is read separately once
 * more.
 */
async function joinCaughtUp(
  context: OrdersContext,
  watch: TokenWatch,
  places: Places,
): Promise<void> {
  const { destinations, tokenMemory } = watch
  const { caughtUp } = tokenMemory
  if (caughtUp.size === 0) return
  const shared = await sharedCursor(context, watch, places).load()
  for (const destination of destinations) {
    const { recipient } = destination
    const read = caughtUp.get(recipient)
    caughtUp.delete(recipient)
    // The shared read begins `overlap` blocks before its cursor. A recipient
    // that is behind by fewer blocks misses nothing.
    if (read === undefined || (shared && read + overlap <= shared.last.number))
      continue
    places.alone.delete(recipient)
    places.joining.push(destination)
  }
}

/**
 * Reads recipients that are behind, in the background, so that the long history
 * of one recipient does not delay others.
 */
function catchUpBeside(
  context: OrdersContext,
  watch: TokenWatch & Reading,
  places: Places,
): Promise<unknown> {
  const { destinations, aside, tokenMemory } = watch
  const { catching } = tokenMemory
  const due = destinations
    .filter(({ recipient }) => places.alone.has(recipient))
    .filter(({ recipient }) => !catching.has(recipient))
    .filter((one) => !aside.at(one).isWaiting(reconciliationStep))
  for (const destination of due.slice(0, mostAlone - catching.size)) {
    const { recipient } = destination
    const reading = catchUp(context, watch, destination)
    catching.set(
      recipient,
      reading.finally(() => catching.delete(recipient)),
    )
  }
  return Promise.all(catching.values())
}

/**
 * Reads the recipients that share a cursor together. If the node refuses the
 * transfers of some recipients, gives these a cursor of their own.
 */
async function readInStep(
  context: OrdersContext,
  watch: TokenWatch & Reading,
  places: Places,
): Promise<void> {
  const { aside, chainId, token, lease } = watch
  const destinations = inStepOf(watch, places)
  if (destinations.length === 0) return
  const read = (those: readonly Destination[]) =>
    reconcilePart(
      context,
      { ...watch, destinations: those },
      sharedCursor(context, watch, places),
    )
  try {
    await read(destinations)
  } catch (error) {
    if (error instanceof LeaseLostError || destinations.length < 2) throw error
    const sharedKey = watchKey(context, { chainId, token }, 'cursor')
    const cursor = await context.store.read((tables) =>
      loadSharedCursor(tables, sharedKey),
    )
    if (!cursor) throw error
    const place = sharedCursor(context, watch, places)
    const { fromBlock } = await findStart(context, watch, place)
    const refused = await findRefused(
      context,
      { ...watch, destinations },
      { fromBlock, toBlock: watch.heads.latest.number },
    )
    if (refused.length === 0) throw error
    for (const destination of refused) {
      const alone = new Set([...places.alone, destination.recipient])
      const leaving = { destination, sharedKey, alone, lease }
      await leaveSharedCursor(context, leaving, cursor)
      places.alone = alone
      aside.at(destination).put(reconciliationStep, error)
    }
    await read(destinations.filter((one) => !refused.includes(one)))
  }
}

/**
 * Reads one recipient separately. A failure is put on the list of failures and
 * tried again later.
 */
async function catchUp(
  context: OrdersContext,
  watch: TokenWatch & Reading,
  destination: Destination,
): Promise<void> {
  const { aside, tokenMemory } = watch
  try {
    const own = { ...watch, destinations: [destination] }
    const { report, missing } = await reconcileDestination(context, own)
    aside.at(destination).clear(reconciliationStep)
    if (missing.length === 0)
      tokenMemory.caughtUp.set(destination.recipient, report.toBlock)
  } catch (error) {
    // If it failed because the lease was lost, the next poll notices that.
    aside.at(destination).put(reconciliationStep, error)
  }
}

/**
 * Reconciles one destination that has its own cursor, with or without the lease
 * for watching the chain.
 *
 * @throws {@link NodeAnswerError} {@link LogRangeError} {@link NodeError} like
 * {@link reconcileToken}.
 */
export async function reconcileDestination(
  context: OrdersContext,
  watch: TokenWatch & Reading,
): Promise<{
  report: Omit<DestinationReconciliation, 'destination'>
  missing: readonly MissingReceipt[]
}> {
  return reconcilePart(context, watch, ownCursor(context, watch))
}

async function reconcilePart(
  context: OrdersContext,
  watch: TokenWatch & Reading,
  place: CursorPlace,
): Promise<{
  report: Omit<DestinationReconciliation, 'destination'>
  missing: readonly MissingReceipt[]
}> {
  const { heads, memory } = watch
  // Check that the node really has its newest block: waiting for the logs of a
  // block that does not exist might never end.
  await heads.confirm()
  const { cursor, fromBlock, isWhole } = await findStart(context, watch, place)
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
  if (isWhole) await place.move({ before: cursor, after })
  const countOf = (wanted: string) =>
    changes.events.filter(
      ({ type, orderId }) =>
        type === wanted && !isRefundRowId(orderId) && !parseMovementId(orderId),
    ).length
  const report = {
    ...range,
    captured: countOf('captured'),
    canceled: countOf('canceled'),
    consumed: countOf('consumed'),
    unexpected: countOf('refundDue'),
    overpaid: countOf('overpaid'),
    unmatched: countOf('unmatched'),
  }
  return { report, missing }
}

function putMissingAside(
  watch: TokenWatch,
  missing: readonly MissingReceipt[],
): void {
  const time = watch.heads.latest.timestamp
  const parts = openApart(watch, { step: reconciliationStep, time })
  for (const { transactionHash, error } of missing)
    if (!parts.isWaiting(transactionHash)) parts.put(transactionHash, error)
  parts.close()
}

/**
 * Returns the block before the lowest one with a missing receipt. The cursor
 * must not pass it, so that the receipt is requested again.
 */
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
    problem: `has no block ${number}`,
  })
}

function lowestOf(missing: readonly MissingReceipt[]): bigint | undefined {
  return missing.reduce<bigint | undefined>(
    (lowest, { blockNumber }) => lowerOf(lowest, blockNumber),
    undefined,
  )
}

/**
 * Writes what a range of blocks shows. Returns the position of the open orders
 * that the next reconciliation asks about.
 */
async function readRange(
  context: OrdersContext,
  watch: TokenWatch & Reading,
  range: { fromBlock: bigint; toBlock: bigint },
  walk: OpenWalk | undefined,
): Promise<{
  changes: Changes
  missing: readonly MissingReceipt[]
  walk: OpenWalk | undefined
}> {
  const { client, isAll, mostOpen: most } = watch
  const { fromBlock, toBlock } = range
  const start = isAll ? undefined : walk?.after
  const since = lowerOf(walk?.since, fromBlock)
  // First ask about orders whose nonce is in no log. Otherwise their transfers
  // would be stored as payments without an order.
  const asked = await askSeparately(context, watch, {
    after: start,
    most: isAll ? Number.POSITIVE_INFINITY : most,
  })
  const first = { after: start, since, most }
  const logs = await getPaymentLogs(context, client, watch, {
    ...range,
    part: first,
  })
  const settled = await settleLogs(context, watch, logs)
  const written = [asked, settled.changes]
  const missing = [...settled.missing]
  let { after } = logs
  while (isAll && after !== undefined) {
    const part = { after, since, most }
    const more = await getSpentLogs(context, client, watch, {
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
  // The next reconciliation reads the blocks with a missing receipt again.
  const lowest = lowerOf(lowestOf(missing), fromBlock)
  return {
    changes: joinChanges(written),
    missing,
    walk: nextWalk(walk, { fromBlock: lowest, after, isAll: isWhole }),
  }
}

/**
 * Writes the transfers to recipients that the store lacks, since each
 * recipient's cursor. For a draft without a payer, only this finds the payment:
 * to ask the token about a nonce, we would need the payer's address.
 *
 * Does not move a cursor: a reconciliation reads everything that this skips.
 *
 * @returns the recipients whose transfers are in the store now. Calls
 * `onFailure` for the others.
 */
export async function settleTransfers(
  context: OrdersContext,
  watch: TokenWatch,
  onFailure: (destination: Destination, error: unknown) => void,
): Promise<ReadonlySet<Address>> {
  const settled = new Set<Address>()
  const places = await loadPlaces(context, watch)
  const inStep = inStepOf(watch, places)
  const alone = watch.destinations.filter((one) => !inStep.includes(one))
  const settle = async (
    destinations: readonly Destination[],
    place: CursorPlace,
  ): Promise<void> => {
    if (destinations.length === 0) return
    await settlePart(context, { ...watch, destinations }, place)
    for (const { recipient } of destinations) settled.add(recipient)
  }
  const settleOne = async (one: Destination): Promise<void> => {
    const place = places.alone.has(one.recipient)
      ? ownCursor(context, { ...watch, destinations: [one] })
      : sharedCursor(context, watch, places)
    try {
      await settle([one], place)
    } catch (error) {
      if (error instanceof LeaseLostError) throw error
      onFailure(one, error)
    }
  }
  const isSettled = await settle(inStep, sharedCursor(context, watch, places))
    .then(() => true)
    .catch((error: unknown) => {
      if (error instanceof LeaseLostError) throw error
      for (const one of inStep.slice(mostAlone)) onFailure(one, error)
      return false
    })
  const retried = isSettled ? [] : inStep.slice(0, mostAlone)
  await Promise.all([...alone, ...retried].map(settleOne))
  return settled
}

async function settlePart(
  context: OrdersContext,
  watch: TokenWatch,
  place: CursorPlace,
): Promise<void> {
  const { client, heads } = watch
  const { fromBlock } = await findStart(
    context,
    { ...watch, isDeep: false },
    place,
  )
  const range = { fromBlock, toBlock: heads.latest.number }
  const transfers = await getTransfers(context, client, watch, range)
  const { missing } = await settleLogs(context, watch, { transfers, spent: [] })
  // The transaction whose receipt is missing may pay a draft, so the draft must
  // not expire now.
  if (missing[0]) throw missing[0].error
}

/**
 * Loads the last block read for each recipient, once per lease. A recipient
 * with neither a cursor nor open orders uses the shared cursor.
 */
async function loadPlaces(
  { store, watches }: OrdersContext,
  { chainId, token, heads, memory, tokenMemory, all }: TokenWatch,
): Promise<Places> {
  if (tokenMemory.places) return tokenMemory.places
  const sharedKey = watchKey({ watches }, { chainId, token }, 'cursor')
  const places = await store.read((tables) =>
    placeRecipients(tables, {
      sharedKey,
      destinations: all,
      head: heads.latest,
      changes: memory.changes ?? 0,
    }),
  )
  tokenMemory.places = places
  return places
}

function inStepOf(
  { destinations }: TokenWatch,
  { alone }: Places,
): readonly Destination[] {
  if (alone.size === 0) return destinations
  return destinations.filter(({ recipient }) => !alone.has(recipient))
}

/**
 * A stored cursor (the last block read), from which a reconciliation starts and
 * which it moves.
 */
type CursorPlace = {
  load(): Promise<DestinationCursor | undefined>
  move(cursors: CursorMove): Promise<void>
}

function ownCursor(
  context: OrdersContext,
  { destinations: [destination], lease }: TokenWatch,
): CursorPlace {
  if (!destination) throw new RangeError('no destination to read by itself')
  return {
    load: () => context.store.read((tables) => loadCursor(tables, destination)),
    move: (cursors) => moveCursor(context, { destination, lease }, cursors),
  }
}

function sharedCursor(
  context: OrdersContext,
  { chainId, token, lease }: TokenWatch,
  places: Places,
): CursorPlace {
  const sharedKey = watchKey(context, { chainId, token }, 'cursor')
  return {
    load: async () =>
      places.start ??
      (await context.store.read((tables) =>
        loadSharedCursor(tables, sharedKey),
      )),
    move: async (cursors) => {
      const { alone, changes } = places
      const joining = [...places.joining]
      const moving = { sharedKey, alone, changes, joining, lease }
      await moveSharedCursor(context, moving, cursors)
      places.joining = places.joining.filter((one) => !joining.includes(one))
      places.start = undefined
    },
  }
}

/**
 * Finds the recipients whose transfers the node refuses, while it returns those
 * of others. Finds none if the node answers for no group of recipients, or for
 * all.
 */
async function findRefused(
  context: OrdersContext,
  { client, token, destinations }: TokenWatch,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<Destination[]> {
  const { answers, refused } = await askInParts(halve(destinations), (part) =>
    getTransfers(context, client, { token, destinations: part }, range),
  )
  return answers.length > 0 ? refused.flatMap(({ part }) => part) : []
}

/**
 * Finds the first block of a reconciliation: before the cursor, as far back as
 * a reorg may have changed the chain. Without a cursor, the block of the oldest
 * open order.
 *
 * @throws {@link NodeAnswerError} when the node lacks the block of the cursor.
 * Does not throw if `checkReorg` has decided that the block left the chain, or
 * if `fromBlock` is given.
 */
async function findStart(
  context: OrdersContext,
  watch: TokenWatch & Pick<Reading, 'isDeep' | 'fromBlock'>,
  place: CursorPlace,
): Promise<{
  cursor: DestinationCursor | undefined
  fromBlock: bigint
  /** True if no block between the cursor and the start is skipped. */
  isWhole: boolean
}> {
  const { heads, fromBlock: wanted } = watch
  const cursor = await place.load()
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

/** Finds the last reconciled block that is still in the chain. */
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
  { client, destinations, heads }: TokenWatch,
): Promise<bigint> {
  const found = await store.read(async ({ orders }) => [
    ...(await orders.find({ unsettled: destinations, limit: 1 })),
    ...(await orders.find({
      lookDue: destinations,
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
