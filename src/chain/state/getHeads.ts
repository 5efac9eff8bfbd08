import type { Client, Hash } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { orNone } from '../rpc/orNone.js'
import { type BlockHead, getBlockHead } from '../rpc/requestNode.js'

/** The newest, safe and finalized block of a chain. */
export type ChainHeads = {
  latest: SealedHead
  /**
   * Read from one answer of the node, and not confirmed yet. Absent if the node
   * names none and the caller gave no distance from the newest block. Absent
   * too if the heads contradict each other.
   */
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
  /**
   * Why the safe and finalized block are missing: the node did not answer, or
   * its answers contradict each other.
   */
  fault: Error | undefined
  /** The blocks of `numbers` that the node has, by their number. */
  blocks: ReadonlyMap<bigint, BlockHead>
  /**
   * Reads the newest block again by its number, to check that the chain has it.
   * Further calls share the answer.
   *
   * @throws {@link NodeAnswerError} when the node returns another block or
   * none. Then store nothing that relies on `latest`.
   */
  confirm: () => Promise<void>
}

type SealedHead = BlockHead & { hash: Hash }

const method = 'eth_getBlockByNumber'

/**
 * Reads the newest, safe and finalized block in one turn of the event loop.
 * Needs a second turn if the node does not know a tag and `blocks` gives a
 * distance from the newest block instead. Leaves out the safe and finalized
 * block if the node does not answer about them, and each number that gets no
 * answer.
 *
 * @param numbers numbers of further blocks to read.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not name
 * its newest block.
 */
export async function getHeads(
  client: Client,
  {
    blocks: depths,
  }: { blocks?: { safe: number; finalized: number } | undefined },
  numbers: readonly bigint[] = [],
): Promise<ChainHeads> {
  // Asks for the newest block after the tags, so that a tag is not above it if
  // a block arrives in between. Asks for `numbers` last, so that their hashes
  // show a reorganization in between.
  const [finalized, safe, latest, blocks] = await Promise.all([
    tryHead(orNone(getBlockHead(client, 'finalized'))),
    tryHead(orNone(getBlockHead(client, 'safe'))),
    getBlockHead(client, 'latest'),
    getBlocks(client, numbers),
  ])
  if (!latest?.hash)
    throw new NodeAnswerError({ method, problem: 'has no latest block' })
  const head = { ...latest, hash: latest.hash }
  const heads = { latest: head, blocks, confirm: confirming(client, head) }
  const none = { safe: undefined, finalized: undefined }
  const fault =
    finalized.fault ??
    safe.fault ??
    findContradiction({ latest, safe: safe.block, finalized: finalized.block })
  if (fault) return { ...heads, ...none, fault }
  const below = async (depth: number | undefined): Promise<TriedHead> => {
    const wanted = latest.number - BigInt(depth ?? 0)
    const isThere = depth !== undefined && wanted >= 0n
    return isThere ? tryHead(getBlockHead(client, wanted)) : {}
  }
  const [deep, deepest] = await Promise.all([
    safe.block ? safe : below(depths?.safe),
    finalized.block ? finalized : below(depths?.finalized),
  ])
  const failed = deep.fault ?? deepest.fault
  if (failed) return { ...heads, ...none, fault: failed }
  return {
    ...heads,
    fault: undefined,
    safe: deep.block,
    finalized: deepest.block,
  }
}

type TriedHead = { block?: BlockHead | undefined; fault?: Error | undefined }

async function tryHead(
  asked: Promise<BlockHead | undefined>,
): Promise<TriedHead> {
  try {
    return { block: await asked }
  } catch (error) {
    return { fault: error instanceof Error ? error : new Error(String(error)) }
  }
}

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

async function getBlocks(
  client: Client,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, BlockHead>> {
  const found = await Promise.all(
    [...new Set(numbers)].map((number) =>
      tryHead(getBlockHead(client, number)),
    ),
  )
  const blocks = found.flatMap(({ block }) => block ?? [])
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
    problem: `has latest block ${hash}, but for its number ${number} a different block or none`,
  })
}

/**
 * Returns an error if the heads are in the wrong order: the finalized block
 * must not be above the safe one, nor the safe one above the newest.
 */
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
    problem: `has ${shown(upper)}, above ${shown(lower)}`,
  })
}
