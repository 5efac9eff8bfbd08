import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import type { ProofRecord } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findCanonical, type SeenBlock } from '../evidence/findCanonical.js'
import { recheckApart } from '../evidence/recheckProofs.js'
import { isClockSet } from '../model/quietIntervalOf.js'
import { addFresh, askBlocks, checkFresh, findNewest } from './checkFresh.js'
import { addSeen, loadSeen, traced } from './destinationCursor.js'
import { findStandingProofs } from './findSettled.js'
import { recheckConsumed } from './recheckConsumed.js'
import { type Displaced, takeBack } from './takeBack.js'
import { type Apart, openApart } from './tryStep.js'
import type { Watch, WatchMemory } from './watchState.js'

/**
 * Number of polls in a row for which a node may lack a block that was seen
 * before. Up to then we assume that the node is only behind.
 */
export const mostBehind = 5

/**
 * Compares the chain with the blocks that earlier polls saw. After a
 * reorganization, checks every payment and cancellation (proof) in the replaced
 * blocks: if it is gone, its order is no longer settled; if it moved, its new
 * block is stored. Also compares proofs that were stored since the last poll,
 * see {@link checkFresh}.
 *
 * A missing receipt alone undoes nothing. A newest block counts as seen once
 * the next poll finds it by its number. If the node lacks a seen block in
 * several polls while the chain grows, the block is forgotten.
 *
 * @returns `behind` while the node's newest block is older than a seen block.
 * The node's answers then prove nothing about the chain.
 */
export async function checkReorg(
  context: OrdersContext,
  watch: Watch,
): Promise<'same' | 'reorged' | 'behind'> {
  const { memory, heads } = watch
  const { latest } = heads
  const seen = memory.seen ?? (await startSeen(context, watch))
  const reorg = await findReorg(watch, seen)
  const newest = seen.at(-1)
  const isBehind =
    !reorg.isReorged && newest !== undefined && latest.number < newest.number
  if (isBehind && !isToDrop(context, watch, newest)) return 'behind'
  memory.behind = undefined
  if (reorg.isReorged || reorg.isLost || isBehind) {
    const { canonical } = reorg
    const from =
      (canonical.at(-1)?.number ?? below(highestSettled(heads), seen)) + 1n
    const before = memory.recheckFrom
    memory.recheckFrom = before === undefined || from < before ? from : before
  }
  memory.seen = reorg.canonical
  memory.head = { number: latest.number, hash: latest.hash }
  const { time = 0n } = memory
  memory.time = latest.timestamp > time ? latest.timestamp : time
  const parts = openApart(watch, {
    step: 'reorganizations',
    time: latest.timestamp,
  })
  if (memory.recheckFrom !== undefined) {
    await recheckFrom(context, { ...watch, parts }, memory.recheckFrom)
    memory.recheckFrom = undefined
  }
  await checkFresh(context, { ...watch, parts })
  parts.close()
  return reorg.isReorged ? 'reorged' : 'same'
}

/** Returns the error that a node is behind a block that was seen before. */
export function behindError({
  heads: { latest },
  memory: { behind },
}: Pick<Watch, 'heads' | 'memory'>): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `names ${latest.number} as latest block, which is older than block ${behind?.newest}, seen before`,
  })
}

type Reorg = {
  canonical: readonly SeenBlock[]
  isReorged: boolean
  /**
   * True when the node lacks the block that was the newest one in the last
   * poll, which no other poll has found.
   */
  isLost: boolean
}

/**
 * Finds which seen blocks are still in the chain, and whether a reorg replaced
 * others.
 */
async function findReorg(
  { client, memory: { head }, heads: { blocks } }: Watch,
  seen: readonly SeenBlock[],
): Promise<Reorg> {
  const same = { isReorged: false, isLost: false }
  const there = head && blocks.get(head.number)
  if (head && there?.hash === head.hash)
    return { ...same, canonical: addSeen(seen, head) }
  const newest = seen.at(-1)
  const isKnown = newest && blocks.get(newest.number)?.hash === newest.hash
  if (!head && (!newest || isKnown)) return { ...same, canonical: seen }
  const found = await findCanonical(client, seen)
  return {
    canonical: found.canonical,
    isReorged: found.isReorged || there !== undefined,
    isLost: head !== undefined && there === undefined,
  }
}

/**
 * True once the node has lacked a seen block for more than `mostBehind` polls
 * while its own chain grew. A node that is only behind would have caught up by
 * then, or its chain would not grow. The exception is a node that was restored
 * to an older state: it grows for hours, and its newest block is old.
 */
function isToDrop(
  context: OrdersContext,
  { memory, heads, chainId }: Watch,
  newest: SeenBlock,
): boolean {
  const { number, timestamp } = heads.latest
  const before = memory.behind
  const from = before?.from ?? number
  const looks = (before?.looks ?? 0) + 1
  memory.behind = { from, looks, newest: newest.number }
  if (looks <= mostBehind || number <= from) return false
  if (isOld(context, { chainId, timestamp, seen: memory.time })) return false
  memory.dropped = newest.number
  return true
}

/** Seconds by which the newest block of a node may be behind. */
const mostSeconds = 600n

/**
 * True when a block is far behind this machine's clock and the newest block
 * seen so far. At the start, the clock alone decides, unless the merchant sets
 * the chain's clock.
 */
function isOld(
  { now, policy }: Pick<OrdersContext, 'now' | 'policy'>,
  block: { chainId: number; timestamp: bigint; seen: bigint | undefined },
): boolean {
  const { chainId, timestamp, seen } = block
  const latest = timestamp + mostSeconds
  if (latest >= now() / 1000n) return false
  return seen === undefined ? !isClockSet(policy, chainId) : latest < seen
}

/**
 * Loads the blocks that the previous process saw, and makes this poll check
 * every proof that is not final.
 */
async function startSeen(
  context: OrdersContext,
  { destinations, memory, heads }: Watch,
): Promise<WatchMemory['seen'] & object> {
  const { seen, newest } = await context.store.read(async (tables) => ({
    seen: await loadSeen(context, tables, destinations),
    newest: await findNewest(tables, destinations),
  }))
  memory.freshTo = newest
  // A block that is final now may have replaced a seen block since the last
  // poll, so start below all seen blocks.
  memory.recheckFrom = below(highestSettled(heads), seen) + 1n
  return seen
}

/**
 * Returns the given block if it is below all seen blocks; otherwise a block far
 * below the lowest seen one.
 */
function below(number: bigint, seen: readonly SeenBlock[]): bigint {
  const [first] = seen
  if (!first || first.number > number) return number
  return first.number > traced ? first.number - traced : -1n
}

/**
 * Returns the highest block that no reorganization can replace: the final
 * block, or the block 64 below the newest if that is lower, because a single
 * answer of the node about finality may be wrong.
 */
function highestSettled({ latest, finalized }: ChainHeads): bigint {
  const near = latest.number > 64n ? latest.number - 64n : -1n
  return finalized && finalized.number < near ? finalized.number : near
}

/**
 * Checks all proofs from a block on. If the node's answer about a proof is
 * unclear, later polls ask again, as they do for new proofs.
 */
async function recheckFrom(
  context: OrdersContext,
  watch: Watch & { parts: Apart },
  fromBlock: bigint,
): Promise<void> {
  const { client, chainId, destinations, heads, lease, memory } = watch
  const { parts } = watch
  const all = await context.store.read((tables) =>
    findStandingProofs(tables, destinations, fromBlock),
  )
  const blocks = await askBlocks(
    client,
    all.map(({ blockNumber }) => blockNumber),
  )
  const doubtful = all.filter(
    ({ blockNumber, blockHash }) => blocks.get(blockNumber) !== blockHash,
  )
  const asked = doubtful.filter((proof) => !parts.isWaiting(nameOf(proof)))
  const checked = await recheckApart(client, asked, {
    chainId,
    onFailure: (proof, error) =>
      parts.put(nameOf(proof), error, { destination: proof }),
  })
  const displaced = checked.filter(
    (one): one is Displaced =>
      one.verdict === 'moved' || one.verdict === 'gone',
  )
  if (displaced.length) await heads.confirm()
  const { timestamp: blockTime } = heads.latest
  await takeBack(context, displaced, { blockTime, lease })
  const undecided = await recheckConsumed(context, { ...watch, fromBlock })
  const unclear = [
    ...doubtful.filter((proof) => !asked.includes(proof)),
    ...checked.flatMap(({ verdict, proof }) =>
      verdict === 'unclear' ? [proof] : [],
    ),
  ]
  for (const { transactionHash } of unclear)
    addFresh(memory, {
      transactionHash,
      consumed: undefined,
      blockHash: undefined,
    })
  for (const { id, settledHash } of undecided)
    if (settledHash)
      addFresh(memory, {
        transactionHash: settledHash,
        consumed: id,
        blockHash: undefined,
      })
}

const nameOf = ({ orderId, transactionHash }: ProofRecord): string =>
  orderId ?? transactionHash
