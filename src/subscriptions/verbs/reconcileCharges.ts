import type { Address } from 'viem'
import { checkChain } from '../../chain/state/checkChain.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { getHeads } from '../../chain/state/getHeads.js'
import { checkMembers } from '../../core/checkMembers.js'
import { onAbort } from '../../core/onAbort.js'
import { parseBlockNumber } from '../../core/parseBlockNumber.js'
import { wait } from '../../core/wait.js'
import {
  type ClientGroup,
  clientOf,
  groupByClient,
} from '../../orders/engine.js'
import {
  chargesCursor,
  planChargesCursor,
  type SharedChargesCursor,
  settledBlock,
} from './chargesCursor.js'
import { findManagers } from './chargesOnRecord.js'
import type { SubscriptionsContext } from './context.js'
import {
  type ChargesReading,
  type ChargesReport,
  lowest,
  newReport,
  readFrom,
  readRange,
  reportFailure,
  startsOf,
  throwFirst,
} from './readCharges.js'
import type { ReconciledCharges } from './reconcileBlock.js'

/** Parameters of `reconcile`. */
export type ReconcileChargesParameters = {
  /** First block to read. @default the block of the oldest subscription */
  fromBlock?: bigint | undefined
}

/**
 * Reads the charges of all subscriptions from the chain, and writes to the
 * database those that it lacks. Finds them by the manager's events and the
 * inputs of their transactions.
 *
 * @throws the failure of a client, a manager, a recipient or a block, once all
 * others are read.
 */
export async function reconcileCharges(
  subscriptions: SubscriptionsContext,
  parameters: ReconcileChargesParameters,
): Promise<ReconciledCharges> {
  checkMembers(parameters, ['fromBlock'])
  const { fromBlock } = parameters
  parseBlockNumber(fromBlock, 'fromBlock')
  const readAll = async (reading: ManagerReading) => {
    const { recipients, oldest } = reading
    const first = fromBlock ?? (await reading.findStart(oldest.values()))
    const done = newReport()
    await readFrom(reading, recipients, first, done)
    throwFirst([...done.failed, ...done.refused])
    return done
  }
  const groups = groupByClient(subscriptions.context)
  return sumAll(
    groups.map((group) => readManagers(subscriptions, group, readAll)),
  )
}

/**
 * Reads the charges of a client's destinations from the stored positions on,
 * and saves the new positions. The next run reads again the blocks that failed.
 *
 * @param going managers whose last reading has not ended. They are left out:
 * one that hangs must not keep the others from being read.
 * @throws the failure of a manager or a recipient, once all others are read.
 */
export async function continueCharges(
  subscriptions: SubscriptionsContext,
  group: ClientGroup,
  going: Set<Address>,
): Promise<void> {
  const { signal } = subscriptions.context
  await readManagers(subscriptions, group, async (reading) => {
    const { manager } = reading
    if (going.has(manager)) return newReport()
    going.add(manager)
    const work = continueManager(reading).finally(() => going.delete(manager))
    return untilLate(work, signal)
  })
}

/** Milliseconds after which nothing waits for the reading of a manager. */
const longestWait = 60_000

/** Waits for a reading, which goes on by itself if it takes too long. */
async function untilLate(
  work: Promise<ReconciledCharges>,
  signal: AbortSignal | undefined,
): Promise<ReconciledCharges> {
  const over = new AbortController()
  const forget = signal && onAbort(signal, () => over.abort())
  try {
    const late = wait(longestWait, over.signal).then(newReport)
    return await Promise.race([work, late])
  } finally {
    over.abort()
    forget?.()
  }
}

type ManagerReading = ChargesReading & {
  group: ClientGroup
  /** All recipients that charge through this manager contract. */
  recipients: readonly Address[]
  /** Creation time of each recipient's oldest subscription, in Unix seconds. */
  oldest: ReadonlyMap<Address, bigint>
  /** Finds the first block at or after the earliest of these times. */
  findStart(times: Iterable<bigint>): Promise<bigint>
}

/**
 * Searches for the charges of all manager contracts in parallel. A manager
 * whose logs the node does not return then delays no other.
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
  // A node of another, longer chain would move the cursors past blocks that
  // were never read.
  await checkChain(client, chainId)
  const starts = new Map<bigint, Promise<bigint>>()
  const findStart: ManagerReading['findStart'] = (times) => {
    const time = [...times].reduce(lowest)
    const start = starts.get(time) ?? findBlockAt(client, time, heads.latest)
    starts.set(time, start)
    return start
  }
  const reading = {
    subscriptions,
    group,
    chainId,
    client,
    heads,
    findStart,
  }
  const readings = [...managers].map(([manager, oldest]) =>
    read({
      ...reading,
      manager,
      recipients: [...oldest.keys()],
      oldest,
    }).catch((error: unknown) => {
      reportFailure(reading, error)
      throw error
    }),
  )
  return sumAll(readings)
}

/**
 * Reads the charges of a manager in three steps: new blocks from its cursor on,
 * then each block that failed before, and at last recipients whose history is
 * not read yet. That history may be long, so it must not delay new charges.
 */
async function continueManager(
  reading: ManagerReading,
): Promise<ReconciledCharges> {
  const { subscriptions, heads, recipients, oldest } = reading
  const { context } = subscriptions
  const { store } = context
  const cursor = chargesCursor(context, reading)
  const before = await store.read(cursor.load)
  const first = before?.block ?? (await reading.findStart(oldest.values()))
  const isKnown = new Set(before?.recipients ?? recipients)
  const inStep = recipients.filter((one) => isKnown.has(one))
  const late = recipients.filter((one) => !isKnown.has(one))
  const { failed = [], behind = new Map<Address, bigint>() } = before ?? {}
  const settled = settledBlock(heads)
  const done = newReport()
  let block = first
  const save = (
    those: readonly Address[],
    left: Pick<SharedChargesCursor, 'failed' | 'behind'>,
  ) =>
    store.write((tables) =>
      cursor.write(tables, {
        ...planChargesCursor(block, [...left.failed, ...done.failed.keys()]),
        recipients: those.filter((one) => !done.refused.has(one)),
        behind: new Map([...left.behind, ...startsOf(done)]),
      }),
    )
  await readFrom(reading, inStep, first, done, (toBlock) => {
    block = highest(first, lowest(toBlock + 1n, settled))
    return save(inStep, { failed, behind })
  })
  await readAgain(reading, inStep, failed, done)
  await catchUp(reading, late, behind, done)
  await save(recipients, { failed: [], behind: new Map() })
  throwFirst(done.refused)
  return done
}

/**
 * Reads failed blocks again, one at a time, because each may take long to fail
 * again.
 */
async function readAgain(
  reading: ManagerReading,
  recipients: readonly Address[],
  blocks: readonly bigint[],
  done: ChargesReport,
): Promise<void> {
  for (const block of blocks)
    try {
      const range = { fromBlock: block, toBlock: block }
      await readRange(reading, recipients, range, done)
    } catch (error) {
      reportFailure(reading, error)
      done.failed.set(block, { error })
    }
}

/**
 * Reads the history of recipients that are new, or whose logs the node refused
 * before.
 */
async function catchUp(
  reading: ManagerReading,
  late: readonly Address[],
  behind: ReadonlyMap<Address, bigint>,
  done: ChargesReport,
): Promise<void> {
  if (late.length === 0) return
  const starts = late.flatMap((one) => behind.get(one) ?? [])
  const fresh = late.filter((one) => !behind.has(one))
  const times = fresh.flatMap((one) => reading.oldest.get(one) ?? [])
  if (times.length > 0) starts.push(await reading.findStart(times))
  const block = starts.reduce(lowest)
  try {
    await readFrom(reading, late, block, done)
  } catch (error) {
    reading.subscriptions.context.signal?.throwIfAborted()
    for (const one of late) done.refused.set(one, { block, error })
  }
}

const highest = (one: bigint, other: bigint) => (one > other ? one : other)

/**
 * Adds up what all searches found.
 *
 * @throws the first failure, once all others are over.
 */
async function sumAll(
  readings: readonly Promise<ReconciledCharges>[],
): Promise<ReconciledCharges> {
  const total = { settled: 0, adopted: 0 }
  for (const ended of await Promise.allSettled(readings)) {
    if (ended.status === 'rejected') throw ended.reason
    total.settled += ended.value.settled
    total.adopted += ended.value.adopted
  }
  return total
}
