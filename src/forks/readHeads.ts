import type { Client, Hash } from 'viem'
import { orNone } from '../reads/getLaneHead.js'
import type { SettledPolicy } from '../records/types.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { type BlockHead, getBlockHead } from '../rpc/requestNode.js'

/** How far the chain is, and how sure of what. */
export type ChainHeads = {
  latest: SealedHead
  /**
   * As the node says, in this one answer. Absent where neither the node nor
   * the policy names one, and where the heads contradict each other.
   */
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
  /** How the heads contradict each other. */
  fault: NodeAnswerError | undefined
  /** The blocks at the numbers that were asked for, where there are any. */
  blocks: ReadonlyMap<bigint, BlockHead>
  /**
   * Asks for the newest block by its number, once for all who call it.
   *
   * @throws {@link NodeAnswerError} when that is another block, or none: then
   * nothing may be written that rests on `latest`.
   */
  confirm: () => Promise<void>
}

type SealedHead = BlockHead & { hash: Hash }

const method = 'eth_getBlockByNumber'

/**
 * Reads the heads of a chain in one tick; in two where the policy's numbers of
 * blocks stand for tags the node does not know.
 *
 * @param numbers of blocks to read with them.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function readHeads(
  client: Client,
  { blocks: depths }: Pick<SettledPolicy, 'blocks'>,
  numbers: readonly bigint[] = [],
): Promise<ChainHeads> {
  // The newest one last: a block may come between two answers.
  const [finalized, safe, asked, latest] = await Promise.all([
    orNone(getBlockHead(client, 'finalized')),
    orNone(getBlockHead(client, 'safe')),
    readBlocks(client, numbers),
    getBlockHead(client, 'latest'),
  ])
  if (!latest?.hash)
    throw new NodeAnswerError({ method, problem: 'names no latest block' })
  const head = { ...latest, hash: latest.hash }
  const heads = {
    latest: head,
    blocks: asked,
    confirm: confirming(client, head),
  }
  const fault = findContradiction({ latest, safe, finalized })
  if (fault) return { ...heads, fault, safe: undefined, finalized: undefined }
  if (!depths || (safe && finalized))
    return { ...heads, fault, safe, finalized }
  const below = (depth: number) => {
    const wanted = latest.number - BigInt(depth)
    return wanted < 0n ? undefined : getBlockHead(client, wanted)
  }
  const [deep, deepest] = await Promise.all([
    safe ?? below(depths.safe),
    finalized ?? below(depths.finalized),
  ])
  return { ...heads, fault, safe: deep, finalized: deepest }
}

/** Whether two answers are about one and the same block. */
export function isSameBlock(
  one: BlockHead,
  other: BlockHead | undefined,
): boolean {
  return (
    one.hash !== undefined &&
    one.hash === other?.hash &&
    one.number === other.number &&
    one.timestamp === other.timestamp
  )
}

async function readBlocks(
  client: Client,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, BlockHead>> {
  const found = await Promise.all(
    [...new Set(numbers)].map((number) => orNone(getBlockHead(client, number))),
  )
  const blocks = found.filter((block) => block !== undefined)
  return new Map(blocks.map((block) => [block.number, block]))
}

function confirming(client: Client, latest: SealedHead): () => Promise<void> {
  let answer: Promise<void> | undefined
  return () => {
    answer ??= confirmHead(client, latest)
    return answer
  }
}

async function confirmHead(client: Client, latest: SealedHead): Promise<void> {
  const { number, hash } = latest
  if (isSameBlock(latest, await getBlockHead(client, number))) return
  throw new NodeAnswerError({
    method,
    problem: `names ${hash} as block ${number} for latest, and another block or none by number`,
  })
}

/** A final block is a safe one, and no block is newer than the newest. */
function findContradiction(
  heads: Record<'latest' | 'safe' | 'finalized', BlockHead | undefined>,
): NodeAnswerError | undefined {
  const order = ['finalized', 'safe', 'latest'] as const
  const named = order.flatMap((tag) => {
    const block = heads[tag]
    return block ? [{ tag, block }] : []
  })
  const at = named.findIndex(({ block }, place) => {
    const next = named[place + 1]?.block
    const isAbove =
      next && (block.number > next.number || block.timestamp > next.timestamp)
    return isAbove
  })
  const [upper, lower] = [named[at], named[at + 1]]
  if (!upper || !lower) return undefined
  const shown = ({ tag, block }: typeof upper) =>
    `${block.number} as ${tag} block (time ${block.timestamp})`
  return new NodeAnswerError({
    method,
    problem: `names ${shown(upper)}, which is above ${shown(lower)}`,
  })
}
