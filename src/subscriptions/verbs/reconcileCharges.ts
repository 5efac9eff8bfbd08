import type { Address, Client, Hash } from 'viem'
import { askInParts, splitTopics } from '../../chain/logs/askInParts.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { checkChain } from '../../chain/state/checkChain.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { type ChainHeads, getHeads } from '../../chain/state/getHeads.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { observeFailure } from '../../core/observeFailure.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { word } from '../../core/words.js'
import { clientOf } from '../../orders/engine.js'
import { usedTopic } from '../charges/findUses.js'
import {
  loadChargesCursor,
  planChargesCursor,
  type SharedChargesCursor,
  saveChargesCursor,
  settledBlock,
} from './chargesCursor.js'
import { findManagers, withoutProof } from './chargesOnRecord.js'
import type { SubscriptionsContext } from './context.js'
import { type ClientGroup, groupByClient } from './groupByClient.js'
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
 * @throws the failure of a client, a manager, a recipient or a block, once all
 * others are read.
 */
export async function reconcileCharges(
  subscriptions: SubscriptionsContext,
  parameters: ReconcileChargesParameters,
): Promise<ReconciledCharges> {
  checkMembers(parameters, members)
  const { fromBlock } = parameters
  parseBlockNumber(fromBlock, 'fromBlock')
  const readAll = async (reading: ManagerReading) => {
    const { oldest } = reading
    const first = fromBlock ?? (await reading.findStart(oldest.values()))
    const done = await readFrom(reading, [...oldest.keys()], first)
    throwFirst([...done.failed, ...done.refused.values()])
    return done
  }
  const groups = groupByClient(subscriptions.context)
  return sumAll(
    groups.map((group) => readManagers(subscriptions, group, readAll)),
  )
}

/**
 * Reads the charges of a client's destinations from the stored cursors on, and
 * moves them. The next run reads failed blocks again.
 *
 * @throws the failure of a manager or a recipient, once all others are read.
 */
export async function continueCharges(
  subscriptions: SubscriptionsContext,
  group: ClientGroup,
): Promise<void> {
  await readManagers(subscriptions, group, continueManager)
}

/** What it takes to read the charges of one manager. */
type ManagerReading = {
  subscriptions: SubscriptionsContext
  group: ClientGroup
  client: Client
  heads: ChainHeads
  manager: Address
  /** Times of the oldest subscription of each recipient, in Unix seconds. */
  oldest: ReadonlyMap<Address, bigint>
  /** Finds the first block that is not older than all of these times. */
  findStart(times: Iterable<bigint>): Promise<bigint>
}

/**
 * Reads the managers of all subscriptions in parallel, so that one whose logs
 * the node does not return delays no other.
 */
async function readManagers(
  subscriptions: SubscriptionsContext,
  group: ClientGroup,
  read: (reading: ManagerReading) => Promise<ReconciledCharges>,
): Promise<ReconciledCharges> {
  const { context } = subscriptions
  const { chainId, tokens } = group
  const managers = await findManagers(subscriptions, group)
  if (managers.size === 0) return { settled: 0, adopted: 0 }
  const client = clientOf(context, { chainId, token: tokens[0] })
  const heads = await getHeads(client, context.policy)
  // A node of a longer chain would move the cursors past unread blocks.
  await checkChain(client, chainId)
  const starts = new Map<bigint, Promise<bigint>>()
  const findStart: ManagerReading['findStart'] = (times) => {
    const time = [...times].reduce(lowest)
    const start = starts.get(time) ?? findBlockAt(client, time, heads.latest)
    starts.set(time, start)
    return start
  }
  const reading = { subscriptions, group, client, heads, findStart }
  const readings = [...managers].map(([manager, oldest]) =>
    read({ ...reading, manager, oldest }).catch((error: unknown) => {
      reportFailure({ subscriptions, group }, error)
      throw error
    }),
  )
  return sumAll(readings)
}

/**
 * Reads the charges of a manager from its cursor on, then the blocks that
 * failed before, each alone, and at last the recipients that are behind, because
 * their history may be long.
 */
async function continueManager(
  reading: ManagerReading,
): Promise<ReconciledCharges> {
  const { subscriptions, heads, oldest } = reading
  const { context } = subscriptions
  const recipients = [...oldest.keys()]
  let cursor: SharedChargesCursor = (await loadChargesCursor(
    context,
    reading,
  )) ?? {
    block: await reading.findStart(oldest.values()),
    failed: [],
    recipients,
    behind: new Map(),
  }
  const move = (next: Partial<SharedChargesCursor>) => {
    cursor = { ...cursor, ...next }
    return saveChargesCursor(context, reading, cursor)
  }
  const { block: first, failed: failedBefore, recipients: inStep } = cursor
  const isInStep = new Set(inStep)
  const late = recipients.filter((one) => !isInStep.has(one))
  const settled = settledBlock(heads)
  const done = await readFrom(
    reading,
    inStep,
    first,
    ({ failed, refused }, toBlock) => {
      const read = highest(first, lowest(toBlock + 1n, settled))
      const blocks = [...failedBefore, ...blocksOf(failed)]
      return move({
        ...planChargesCursor(read, blocks),
        recipients: inStep.filter((one) => !refused.has(one)),
        behind: new Map([...cursor.behind, ...startsOf(refused)]),
      })
    },
  )
  const found = await readAgain(reading, failedBefore)
  const failed = cursor.failed.filter((block) => !found.blocks.has(block))
  if (found.blocks.size > 0) await move({ failed })
  const caughtUp = await catchUp(reading, late, cursor.behind)
  if (late.length > 0)
    await move({
      ...planChargesCursor(cursor.block, [
        ...cursor.failed,
        ...blocksOf(caughtUp.failed),
      ]),
      recipients: [
        ...cursor.recipients,
        ...late.filter((one) => !caughtUp.refused.has(one)),
      ],
      behind: new Map(
        startsOf(new Map([...done.refused, ...caughtUp.refused])),
      ),
    })
  throwFirst([...done.refused.values(), ...caughtUp.refused.values()])
  return sum([done, found, caughtUp])
}

/** Reads recipients that are behind: new ones, and those refused before. */
async function catchUp(
  reading: ManagerReading,
  late: readonly Address[],
  behind: ReadonlyMap<Address, bigint>,
): Promise<RangeReport> {
  const fresh = late.filter((one) => !behind.has(one))
  const times = fresh.flatMap((one) => reading.oldest.get(one) ?? [])
  const starts = late.flatMap((one) => behind.get(one) ?? [])
  if (times.length > 0) starts.push(await reading.findStart(times))
  return readFrom(
    reading,
    late,
    starts.reduce(lowest, reading.heads.latest.number),
  )
}

/** Reads blocks again, each alone, because each may take long to fail again. */
async function readAgain(
  reading: ManagerReading,
  blocks: readonly bigint[],
): Promise<ReconciledCharges & { blocks: ReadonlySet<bigint> }> {
  const { subscriptions, oldest } = reading
  const found = new Set<bigint>()
  const total = { settled: 0, adopted: 0 }
  for (const block of blocks)
    try {
      const range = { fromBlock: block, toBlock: block }
      const again = await readRange(reading, [...oldest.keys()], range)
      total.settled += again.settled
      total.adopted += again.adopted
      if (again.failed.length + again.refused.size === 0) found.add(block)
    } catch (error) {
      subscriptions.context.signal?.throwIfAborted()
      reportFailure(reading, error)
    }
  return { ...total, blocks: found }
}

/** What a range of blocks shows, and what could not be read in it. */
type RangeReport = ReconciledCharges & {
  /** Blocks with a charge that could not be read. */
  failed: Failure[]
  /** Recipients whose logs the node refused, unlike those of others. */
  refused: Map<Address, Failure>
}

type Failure = { block: bigint; error: unknown }

/** Most blocks whose logs are in memory at a time. */
const mostBlocks = 1_000_000n

/**
 * Reads the charges of a manager up to the newest block.
 *
 * @param onRead called after each range with the report so far, and the last
 * block of the range.
 */
async function readFrom(
  reading: ManagerReading,
  recipients: readonly Address[],
  first: bigint,
  onRead: (report: RangeReport, toBlock: bigint) => Promise<void> = async () =>
    undefined,
): Promise<RangeReport> {
  const done: RangeReport = newReport()
  const { latest } = reading.heads
  if (recipients.length === 0) return done
  for (let from = first; from <= latest.number; from += mostBlocks) {
    const toBlock = lowest(from + mostBlocks - 1n, latest.number)
    const asked = recipients.filter((one) => !done.refused.has(one))
    const range = { fromBlock: from, toBlock }
    const found = await readRange(reading, asked, range)
    done.settled += found.settled
    done.adopted += found.adopted
    done.failed.push(...found.failed)
    for (const [one, failure] of found.refused) done.refused.set(one, failure)
    await onRead(done, toBlock)
  }
  return done
}

/** @throws the failure of the node if it answers about no recipient. */
async function readRange(
  reading: ManagerReading,
  recipients: readonly Address[],
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<RangeReport> {
  const { subscriptions, group, client, heads } = reading
  const { context } = subscriptions
  const { latest, confirm } = heads
  const { answers, refused } = await askInParts(
    splitTopics(recipients),
    (part) => getUses(reading, part, range),
  )
  if (answers.length === 0) throwFirst(refused)
  await confirm()
  const done = newReport()
  for (const { part, error } of refused)
    for (const one of part)
      done.refused.set(one, { block: range.fromBlock, error })
  const logs = await withoutProof(context, group.chainId, answers.flat())
  const places = new Map(
    logs.map((log) => [`${log.topics[1]} ${log.blockNumber}`, log]),
  )
  for (const { topics, blockNumber } of places.values()) {
    const look = {
      client,
      hash: String(topics[1]),
      blockNumber,
      now: latest.timestamp,
    }
    try {
      const found = await reconcileBlock(subscriptions, look)
      done.settled += found.settled
      done.adopted += found.adopted
    } catch (error) {
      context.signal?.throwIfAborted()
      // One failure does not block the rest.
      done.failed.push({ block: blockNumber, error })
      reportFailure(reading, error)
    }
  }
  return done
}

/** Gets the events of all charges of a manager to these recipients. */
function getUses(
  { subscriptions, client, manager }: ManagerReading,
  recipients: readonly Address[],
  { fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const words = recipients.map((one): Hash => `0x${word(one)}`)
  return getLogs(client, {
    address: manager,
    topics: [usedTopic, null, null, words],
    fromBlock,
    toBlock,
    // Asks for all blocks at once. `getLogs` narrows a range that the node
    // refuses.
    maxBlockRange: toBlock - fromBlock + 1n,
    signal: subscriptions.context.signal,
  })
}

const newReport = (): RangeReport => ({
  settled: 0,
  adopted: 0,
  failed: [],
  refused: new Map(),
})

const blocksOf = (failures: readonly Failure[]) =>
  failures.map(({ block }) => block)

const startsOf = (refused: ReadonlyMap<Address, Failure>) =>
  [...refused].map(([one, { block }]) => [one, block] as const)

const lowest = (one: bigint, other: bigint) => (one < other ? one : other)
const highest = (one: bigint, other: bigint) => (one > other ? one : other)

function throwFirst([failure]: readonly { error: unknown }[]): void {
  if (failure) throw failure.error
}

/** Waits for all. @throws the first failure, once all others are over. */
async function sumAll(
  readings: readonly Promise<ReconciledCharges>[],
): Promise<ReconciledCharges> {
  const ended = await Promise.allSettled(readings)
  return sum(
    ended.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    }),
  )
}

const sum = (all: readonly ReconciledCharges[]): ReconciledCharges => ({
  settled: all.reduce((total, { settled }) => total + settled, 0),
  adopted: all.reduce((total, { adopted }) => total + adopted, 0),
})

function reportFailure(
  {
    subscriptions: { context },
    group: { chainId },
  }: Pick<ManagerReading, 'subscriptions' | 'group'>,
  error: unknown,
): void {
  if (context.signal?.aborted) return
  observeFailure(context, 'schedule.failed', {
    about: { chainId, what: 'reconcile' },
    error,
  })
}
