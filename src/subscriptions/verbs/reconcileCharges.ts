import type { Address, Client } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import { checkChain } from '../../chain/state/checkChain.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { type ChainHeads, getHeads } from '../../chain/state/getHeads.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { observeFailure } from '../../core/observeFailure.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { word } from '../../core/words.js'
import { clientOf } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'
import { usedTopic } from '../charges/findUses.js'
import {
  type ChargesCursor,
  loadChargesCursor,
  planChargesCursor,
  saveChargesCursor,
  settledBlock,
} from './chargesCursor.js'
import { findManagers, withoutProof } from './chargesOnRecord.js'
import type { SubscriptionsContext } from './context.js'
import type { ClientGroup } from './groupByClient.js'
import { type ReconciledCharges, reconcileBlock } from './reconcileBlock.js'

/** Parameters of `reconcile`. */
export type ReconcileChargesParameters = {
  /** First block to read. @default the block of the oldest subscription */
  fromBlock?: bigint | undefined
}

const members: MembersOf<ReconcileChargesParameters> = { fromBlock: true }

/**
 * Reads the charges of all subscriptions from the chain, and writes those that
 * the record lacks. Sources are the manager's events and the inputs of their
 * transactions.
 *
 * @throws the failure of a destination, a manager or a block, once all others
 * are read.
 */
export async function reconcileCharges(
  subscriptions: SubscriptionsContext,
  parameters: ReconcileChargesParameters,
): Promise<ReconciledCharges> {
  checkMembers(parameters, members)
  const { fromBlock } = parameters
  parseBlockNumber(fromBlock, 'fromBlock')
  const total = { settled: 0, adopted: 0 }
  const failures: unknown[] = []
  const reconcile = async (destination: Destination) => {
    try {
      const found = await reconcileChargesAt(subscriptions, destination, {
        fromBlock,
      })
      total.settled += found.settled
      total.adopted += found.adopted
    } catch (error) {
      failures.push(error)
    }
  }
  // In parallel, so that a node that does not answer delays no other
  // destination.
  await Promise.all(subscriptions.context.destinations.map(reconcile))
  if (failures.length > 0) throw failures[0]
  return total
}

/** Reads the charges of a client's destinations from their cursors on. */
export async function continueCharges(
  subscriptions: SubscriptionsContext,
  { destinations }: Pick<ClientGroup, 'destinations'>,
): Promise<void> {
  const failures: unknown[] = []
  await Promise.all(
    destinations().map((one) =>
      reconcileChargesAt(subscriptions, one, { isContinued: true }).catch(
        (error: unknown) => failures.push(error),
      ),
    ),
  )
  if (failures.length > 0) throw failures[0]
}

/** Most blocks whose logs are in memory at a time. */
const mostBlocks = 1_000_000n

/**
 * Reads the charges of one destination. With `isContinued`, begins at the
 * stored cursors and moves them. The next such run reads failed blocks again.
 *
 * @throws the failure of a manager, once all others are read; the failure of a
 * block, unless `isContinued`.
 */
async function reconcileChargesAt(
  subscriptions: SubscriptionsContext,
  destination: Destination,
  {
    fromBlock,
    isContinued = false,
  }: { fromBlock?: bigint | undefined; isContinued?: boolean | undefined },
): Promise<ReconciledCharges> {
  const { context } = subscriptions
  const done = { settled: 0, adopted: 0 }
  const { managers, oldest } = await findManagers(subscriptions, destination)
  if (oldest === undefined) return done
  const client = clientOf(context, destination)
  const heads = await getHeads(client, context.policy)
  // A node of a longer chain would move the cursors past unread blocks.
  await checkChain(client, destination.chainId)
  let start: Promise<bigint> | undefined
  const findStart = () => {
    start ??= findBlockAt(client, oldest, heads.latest)
    return start
  }
  const failures: unknown[] = []
  const reconcile = async (manager: Address) => {
    const reading = { subscriptions, destination, client, heads, manager }
    try {
      const found = isContinued
        ? await continueManager(reading, findStart)
        : await reconcileManager(reading, fromBlock ?? (await findStart()))
      done.settled += found.settled
      done.adopted += found.adopted
    } catch (error) {
      if (context.signal?.aborted) return
      failures.push(error)
      reportFailure(reading, error)
    }
  }
  // In parallel, so that a manager whose logs the node does not return delays
  // no other.
  await Promise.all(managers.map(reconcile))
  context.signal?.throwIfAborted()
  if (failures.length > 0) throw failures[0]
  return done
}

type ManagerReading = {
  subscriptions: SubscriptionsContext
  destination: Destination
  client: Client
  heads: ChainHeads
  manager: Address
}

/**
 * Counts for a range of blocks, and its blocks with a charge that could not be
 * read.
 */
type RangeReport = ReconciledCharges & { failed: FailedBlock[] }

type FailedBlock = { block: bigint; error: unknown }

/**
 * Reads the charges of a manager from a block on.
 *
 * @throws the failure of a block, once all others are read.
 */
async function reconcileManager(
  reading: ManagerReading,
  first: bigint,
): Promise<ReconciledCharges> {
  const { settled, adopted, failed } = await reconcileFrom(reading, first)
  const [failure] = failed
  if (failure) throw failure.error
  return { settled, adopted }
}

/**
 * Reads the charges of a manager from its cursor on, and then the blocks that
 * failed before, each alone.
 */
async function continueManager(
  reading: ManagerReading,
  findStart: () => Promise<bigint>,
): Promise<ReconciledCharges> {
  const {
    subscriptions: { context },
    destination,
    heads,
    manager,
  } = reading
  const cursor = await loadChargesCursor(context, destination, manager)
  const { block: first, failed: before } = cursor ?? {
    block: await findStart(),
    failed: [],
  }
  const save = (next: ChargesCursor) =>
    saveChargesCursor(context, destination, manager, next)
  const settled = settledBlock(heads)
  let next = { block: first, failed: before }
  const done = await reconcileFrom(reading, first, (failed, toBlock) => {
    const read = highest(first, lowest(toBlock + 1n, settled))
    const blocks = failed.map(({ block }) => block)
    next = planChargesCursor(read, [...before, ...blocks])
    return save(next)
  })
  // After the new blocks, because each failed block may take long to fail
  // again.
  const found = new Set<bigint>()
  for (const block of before)
    try {
      const range = { fromBlock: block, toBlock: block }
      const again = await reconcileRange(reading, range)
      done.settled += again.settled
      done.adopted += again.adopted
      if (again.failed.length === 0) found.add(block)
    } catch (error) {
      context.signal?.throwIfAborted()
      reportFailure(reading, error)
    }
  if (found.size > 0) {
    const failed = next.failed.filter((block) => !found.has(block))
    await save({ ...next, failed })
  }
  return done
}

/**
 * Reads the charges of a manager up to the newest block.
 *
 * @param onRead called after each range with all blocks that failed so far, and
 * the last block of the range.
 */
async function reconcileFrom(
  reading: ManagerReading,
  first: bigint,
  onRead: (
    failed: readonly FailedBlock[],
    toBlock: bigint,
  ) => Promise<void> = async () => undefined,
): Promise<RangeReport> {
  const done: RangeReport = { settled: 0, adopted: 0, failed: [] }
  const { latest } = reading.heads
  for (let from = first; from <= latest.number; from += mostBlocks) {
    const toBlock = lowest(from + mostBlocks - 1n, latest.number)
    const found = await reconcileRange(reading, { fromBlock: from, toBlock })
    done.settled += found.settled
    done.adopted += found.adopted
    done.failed.push(...found.failed)
    await onRead(done.failed, toBlock)
  }
  return done
}

const lowest = (one: bigint, other: bigint) => (one < other ? one : other)
const highest = (one: bigint, other: bigint) => (one > other ? one : other)

async function reconcileRange(
  reading: ManagerReading,
  { fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint },
): Promise<RangeReport> {
  const { subscriptions, destination, client, heads, manager } = reading
  const { signal } = subscriptions.context
  const { latest, confirm } = heads
  const done: RangeReport = { settled: 0, adopted: 0, failed: [] }
  const logs = await getLogs(client, {
    address: manager,
    topics: [usedTopic, null, null, `0x${word(destination.recipient)}`],
    fromBlock,
    toBlock,
    // Asks for all blocks at once. `getLogs` narrows a range that the node
    // refuses.
    maxBlockRange: toBlock - fromBlock + 1n,
    signal,
  })
  await confirm()
  const unproven = await withoutProof(subscriptions, destination, logs)
  const places = new Map(
    unproven.map((log) => [`${log.topics[1]} ${log.blockNumber}`, log]),
  )
  for (const { topics, blockNumber } of places.values()) {
    const look = {
      client,
      hash: String(topics[1]),
      blockNumber,
      now: latest.timestamp,
    }
    try {
      const found = await reconcileBlock(subscriptions, destination, look)
      done.settled += found.settled
      done.adopted += found.adopted
    } catch (error) {
      signal?.throwIfAborted()
      // One failure does not block the rest.
      done.failed.push({ block: blockNumber, error })
      reportFailure(reading, error)
    }
  }
  return done
}

function reportFailure(
  { subscriptions: { context }, destination }: ManagerReading,
  error: unknown,
): void {
  observeFailure(context, 'schedule.failed', {
    about: { ...destination, what: 'reconcile' },
    error,
  })
}
