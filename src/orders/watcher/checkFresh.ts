import type { Client, Hash } from 'viem'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'
import { LeaseLostError } from '../../store/errors.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  EventRecord,
  OrderRecord,
  ProofRecord,
  StoreReader,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { type Recheck, recheckApart } from '../evidence/recheckProofs.js'
import { refundRowId } from '../model/refundRow.js'
import { recheckOrders } from './recheckConsumed.js'
import { type Displaced, takeBack } from './takeBack.js'
import type { Apart } from './tryStep.js'
import {
  type FreshProof,
  unknownDue,
  type Watch,
  type WatchMemory,
} from './watchState.js'

/**
 * Number of polls that must find a new payment or cancellation in the chain.
 */
const looksNeeded = 2

/** Most events per query. */
const pageSize = 200

/**
 * Finds payments and cancellations (proofs) that were stored since the last
 * poll, and compares them with the chain in this poll and in the next. Without
 * that, a reorg could replace a proof's block before any poll has seen the
 * block, and no poll would notice.
 *
 * If the node does not have the block of a proof, or the block is above the
 * newest block of this poll, this poll decides nothing, and the next one asks
 * again.
 */
export async function checkFresh(
  context: OrdersContext,
  watch: Watch & { parts: Apart },
): Promise<void> {
  const { client, chainId, destinations, heads, memory, lease, parts } = watch
  await readFresh(context, watch)
  memory.held = new Set()
  if (memory.fresh.size === 0) return
  // What follows may make orders due.
  memory.due = unknownDue
  const all = await context.store.read((tables) =>
    loadFresh(tables, { chainId, destinations }, memory.fresh),
  )
  const due = all.filter(
    (one) =>
      one.blockNumber <= heads.latest.number && !parts.isWaiting(nameOf(one)),
  )
  const blocks = await askBlocks(
    client,
    due.map(({ blockNumber }) => blockNumber),
  )
  const doubtful: Fresh[] = []
  const found = new Map<Fresh, number>()
  for (const one of due) {
    const hash = blocks.get(one.blockNumber)
    if (hash === 'none') continue
    if (hash !== undefined && hash === one.blockHash)
      found.set(one, one.looks + 1)
    else doubtful.push(one)
  }
  const checked = await recheckApart(client, doubtful, {
    chainId,
    onFailure: (one, error) =>
      parts.put(nameOf(one), error, { destination: one.order ?? one.proof }),
  })
  for (const { verdict, proof } of checked)
    if (verdict === 'same') found.set(proof, proof.looks + 1)
  const displaced = checked.flatMap(displacedOf)
  const consumed = checked.flatMap(({ verdict, proof }) =>
    verdict !== 'same' && proof.order ? [proof] : [],
  )
  if (displaced.length) await heads.confirm()
  const { timestamp: blockTime } = heads.latest
  const written = await takeBackApart(context, displaced, {
    blockTime,
    lease,
    parts,
  })
  for (const one of doubtful)
    if (one.proof && written.has(one.proof)) found.set(one, 1)
  const undecided = await recheckOrders(
    context,
    watch,
    consumed.flatMap(({ order }) => order ?? []),
  )
  for (const one of consumed)
    if (!undecided.some(({ id }) => id === one.order?.id)) found.set(one, 1)
  remember(memory, all, found)
}

export function addFresh(
  memory: Pick<WatchMemory, 'fresh'>,
  proof: Omit<FreshProof, 'looks'>,
): void {
  const key = `${proof.consumed ?? ''}:${proof.transactionHash}`
  memory.fresh.set(key, { ...proof, looks: 0 })
}

/**
 * Returns the cursor of the newest event of these destinations. The first poll
 * reads the events after it.
 */
export async function findNewest(
  { events }: Pick<StoreReader, 'events'>,
  destinations: readonly Destination[],
): Promise<bigint> {
  const [newest] = await events.find({ newest: destinations })
  return newest?.cursor ?? 0n
}

/**
 * Reads the events since the last poll. In the same read, finds out what is
 * due, so that `expireDue` and `carryRefunds` need no read in a quiet poll.
 */
async function readFresh(
  { store }: OrdersContext,
  { destinations, memory, heads }: Watch,
): Promise<void> {
  for (;;) {
    const after = memory.freshTo ?? 0n
    const { events, added, due } = await store.read(async (tables) => {
      const events = await tables.events.find({
        destinations,
        after,
        limit: pageSize,
      })
      const added = await findAdded(tables, events)
      return { events, added, due: await findDue(tables, destinations, heads) }
    })
    for (const one of added) addFresh(memory, one)
    memory.due = due
    memory.freshTo = events.at(-1)?.cursor ?? after
    if (events.length < pageSize) return
  }
}

async function findDue(
  { orders }: Pick<StoreReader, 'orders'>,
  destinations: readonly Destination[],
  { latest: { timestamp: until } }: Watch['heads'],
): Promise<WatchMemory['due']> {
  const checks = await orders.find({ lookDue: destinations, until, limit: 1 })
  const refunds = await orders.find({ refundsDue: destinations, limit: 1 })
  return { orders: checks.length > 0, refunds: refunds.length > 0 }
}

async function findAdded(
  tables: Pick<StoreReader, 'orders' | 'proofs'>,
  events: readonly EventRecord[],
): Promise<Omit<FreshProof, 'looks'>[]> {
  const named = events.flatMap(({ type, orderId, data }) => {
    const { transactionHash, blockHash } = data
    // An event that names a transaction but no block proves nothing on chain.
    if (typeof transactionHash !== 'string' || data.blockNumber === undefined)
      return []
    return [
      {
        transactionHash: transactionHash as Hash,
        consumed: type === 'consumed' ? orderId : undefined,
        blockHash:
          typeof blockHash === 'string' ? (blockHash as Hash) : undefined,
      },
    ]
  })
  return [...named, ...(await findEndedRefunds(tables, events))]
}

/**
 * Finds the transactions of failed refunds, because the events of these refunds
 * name no transaction.
 */
async function findEndedRefunds(
  tables: Pick<StoreReader, 'orders' | 'proofs'>,
  events: readonly EventRecord[],
): Promise<Omit<FreshProof, 'looks'>[]> {
  const ended = events.filter(({ type }) => type === 'refundFailed')
  if (ended.length === 0) return []
  const ids = ended.map(({ orderId, data }) =>
    refundRowId(String(orderId), String(data.refundId)),
  )
  const rows = await tables.orders.find({ ids })
  return rows.flatMap(({ id, state, settledHash }) => {
    if (!settledHash) return []
    const consumed = state === 'consumed' ? id : undefined
    return [{ transactionHash: settledHash, consumed, blockHash: undefined }]
  })
}

type Fresh = {
  key: string
  looks: number
  transactionHash: Hash
  blockNumber: bigint
  blockHash: Hash | undefined
  proof?: ProofRecord | undefined
  /** An order in the state `consumed`. It has no stored proof. */
  order?: OrderRecord | undefined
}

const nameOf = ({ proof, order, transactionHash }: Fresh): string =>
  order?.id ?? proof?.orderId ?? transactionHash

/**
 * Loads the new proofs that still count: those not removed by a reorg, and
 * orders that are still `consumed`.
 */
async function loadFresh(
  tables: Pick<StoreReader, 'orders' | 'proofs'>,
  {
    chainId,
    destinations,
  }: { chainId: number; destinations: readonly Destination[] },
  fresh: WatchMemory['fresh'],
): Promise<Fresh[]> {
  const entries = [...fresh]
  const hashes = entries.flatMap(([, { consumed, transactionHash }]) =>
    consumed === undefined ? [transactionHash] : [],
  )
  const ids = entries.flatMap(([, { consumed }]) => consumed ?? [])
  const proofs = hashes.length
    ? await tables.proofs.find({ hashes, chainId })
    : []
  const orders = ids.length ? await tables.orders.find({ ids }) : []
  return entries.flatMap(([key, entry]): Fresh[] => {
    const { transactionHash, consumed, blockHash, looks } = entry
    const seen = { key, looks, transactionHash }
    if (consumed === undefined)
      return proofs
        .filter(
          (row) =>
            !row.removed &&
            row.transactionHash === transactionHash &&
            isInDestinations(row, destinations),
        )
        .map((proof) => ({
          ...seen,
          blockNumber: proof.blockNumber,
          blockHash: proof.blockHash,
          proof,
        }))
    const order = orders.find(({ id }) => id === consumed)
    const { settledBlock: blockNumber } = order ?? {}
    const isStanding =
      order?.state === 'consumed' && order.settledHash === transactionHash
    return isStanding && blockNumber !== undefined
      ? [{ ...seen, blockNumber, blockHash, order }]
      : []
  })
}

/**
 * Asks the node for the block at each number. The answer is `none` if the node
 * has no such block, and absent if it does not answer.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when there are several
 * blocks and the node answers about none.
 */
export async function askBlocks(
  client: Client,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, Hash | 'none'>> {
  const wanted = [...new Set(numbers)]
  const failures: unknown[] = []
  const blocks = new Map<bigint, Hash | 'none'>()
  await askInChunks(wanted, async (number) => {
    try {
      const times = await getBlockTimes(client, [number])
      blocks.set(number, times.get(number)?.hash ?? 'none')
    } catch (error) {
      failures.push(error)
    }
  })
  if (failures.length > 1 && failures.length === wanted.length)
    throw failures[0]
  return blocks
}

function displacedOf(checked: Recheck<Fresh>): Displaced[] {
  const { proof } = checked.proof
  if (!proof) return []
  if (checked.verdict !== 'moved' && checked.verdict !== 'gone') return []
  return [{ ...checked, proof }]
}

/**
 * Writes what a reorg did to these proofs in one database transaction. If that
 * fails, writes each proof in one of its own.
 * @returns the proofs that were written.
 */
async function takeBackApart(
  context: OrdersContext,
  displaced: readonly Displaced[],
  {
    parts,
    ...options
  }: Parameters<typeof takeBack>[2] & { parts: Pick<Apart, 'put'> },
): Promise<ReadonlySet<ProofRecord>> {
  try {
    await takeBack(context, displaced, options)
    return new Set(displaced.map(({ proof }) => proof))
  } catch (error) {
    if (error instanceof LeaseLostError) throw error
  }
  const written = new Set<ProofRecord>()
  for (const one of displaced) {
    const { orderId, transactionHash } = one.proof
    try {
      await takeBack(context, [one], options)
      written.add(one.proof)
    } catch (error) {
      if (error instanceof LeaseLostError) throw error
      parts.put(orderId ?? transactionHash, error, { destination: one.proof })
    }
  }
  return written
}

/**
 * Stops tracking the proofs that are gone, or that enough polls have found.
 * Keeps in `held` the orders whose proof this poll did not find, so that they
 * are not fulfilled now.
 */
function remember(
  memory: WatchMemory,
  all: readonly Fresh[],
  found: ReadonlyMap<Fresh, number>,
): void {
  const looks = new Map<string, number>()
  const held = new Set<string>()
  for (const one of all) {
    const now = found.get(one) ?? 0
    looks.set(one.key, Math.min(now, looks.get(one.key) ?? now))
    const orderId = one.proof?.orderId
    if (now === 0 && orderId !== undefined) held.add(orderId)
  }
  for (const [key, entry] of memory.fresh) {
    const now = looks.get(key)
    if (now === undefined || now >= looksNeeded) memory.fresh.delete(key)
    else memory.fresh.set(key, { ...entry, looks: now })
  }
  memory.held = held
}
