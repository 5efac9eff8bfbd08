import type { Address, Client, Hash } from 'viem'
import { askInParts, splitTopics } from '../../chain/logs/askInParts.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { observeFailure } from '../../core/observeFailure.js'
import { word } from '../../core/words.js'
import { usedTopic } from '../charges/findUses.js'
import { withoutProof } from './chargesOnRecord.js'
import type { SubscriptionsContext } from './context.js'
import { type ReconciledCharges, reconcileBlock } from './reconcileBlock.js'

/** What a search for the charges of one manager contract needs. */
export type ChargesReading = {
  subscriptions: SubscriptionsContext
  chainId: number
  client: Client
  heads: ChainHeads
  manager: Address
}

/** What a search found in some blocks, and what it could not read. */
export type ChargesReport = ReconciledCharges & {
  /** Blocks with a charge that could not be read. */
  failed: Map<bigint, { error: unknown }>
  /**
   * Recipients whose logs the node refused, with the first block to read again.
   */
  refused: Map<Address, { block: bigint; error: unknown }>
}

export const newReport = (): ChargesReport => ({
  settled: 0,
  adopted: 0,
  failed: new Map(),
  refused: new Map(),
})

/** The first block that each refused recipient still needs. */
export function startsOf({ refused }: ChargesReport): [Address, bigint][] {
  return [...refused].map(([one, { block }]) => [one, block])
}

/** Most blocks whose logs are requested at once, to limit memory. */
const mostBlocks = 1_000_000n

type Range = { fromBlock: bigint; toBlock: bigint }

/**
 * Reads the charges of a manager up to the newest block, and adds what it finds
 * to a report.
 *
 * @param onRead called after each range with its last block.
 */
export async function readFrom(
  reading: ChargesReading,
  recipients: readonly Address[],
  first: bigint,
  done: ChargesReport,
  onRead: (toBlock: bigint) => Promise<void> = async () => undefined,
): Promise<void> {
  const { latest } = reading.heads
  if (recipients.length === 0) return
  for (let from = first; from <= latest.number; from += mostBlocks) {
    const toBlock = lowest(from + mostBlocks - 1n, latest.number)
    const asked = recipients.filter((one) => !done.refused.has(one))
    await readRange(reading, asked, { fromBlock: from, toBlock }, done)
    await onRead(toBlock)
  }
}

/** @throws the node's failure if it refused the logs of every recipient. */
export async function readRange(
  reading: ChargesReading,
  recipients: readonly Address[],
  range: Range,
  done: ChargesReport,
): Promise<void> {
  const { subscriptions, chainId, client, heads } = reading
  const { context } = subscriptions
  const { answers, refused } = await askInParts(
    splitTopics(recipients),
    (part) => getUses(reading, part, range),
  )
  context.signal?.throwIfAborted()
  if (answers.length === 0) throwFirst(refused.entries())
  await heads.confirm()
  for (const { part, error } of refused)
    for (const one of part)
      done.refused.set(one, { block: range.fromBlock, error })
  const logs = await withoutProof(context, chainId, answers.flat())
  const places = new Map(
    logs.map((log) => [`${log.topics[1]} ${log.blockNumber}`, log]),
  )
  for (const { topics, blockNumber } of places.values()) {
    const look = {
      client,
      hash: String(topics[1]),
      blockNumber,
      now: heads.latest.timestamp,
    }
    try {
      const found = await reconcileBlock(subscriptions, look)
      done.settled += found.settled
      done.adopted += found.adopted
    } catch (error) {
      // A block that cannot be read must not stop the others: it is reported
      // and read again later.
      done.failed.set(blockNumber, { error })
      reportFailure(reading, error)
    }
  }
}

/** Gets the events of all charges of a manager to these recipients. */
function getUses(
  { subscriptions, client, manager }: ChargesReading,
  recipients: readonly Address[],
  { fromBlock, toBlock }: Range,
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

export const lowest = (one: bigint, other: bigint): bigint =>
  one < other ? one : other

/** Throws the first of these failures, if there is one. */
export function throwFirst(
  failures: Iterable<readonly [unknown, { error: unknown }]>,
): void {
  for (const [, { error }] of failures) throw error
}

export function reportFailure(
  {
    subscriptions: { context },
    chainId,
  }: Pick<ChargesReading, 'subscriptions' | 'chainId'>,
  error: unknown,
): void {
  context.signal?.throwIfAborted()
  observeFailure(context, 'schedule.failed', {
    about: { chainId, what: 'reconcile' },
    error,
  })
}
