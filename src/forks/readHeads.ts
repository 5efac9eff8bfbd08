import type { Client } from 'viem'
import { orNone } from '../reads/getLaneHead.js'
import type { SettledPolicy } from '../records/types.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { type BlockHead, getBlockHead } from '../rpc/requestNode.js'

/** How far the chain is, and how sure of what. */
export type ChainHeads = {
  latest: SealedHead
  /** Absent where neither the node nor the policy names one. */
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
  /** The block at the number that was asked for, where there is one. */
  asked: BlockHead | undefined
}

type SealedHead = BlockHead & { hash: NonNullable<BlockHead['hash']> }

/**
 * Reads the heads of a chain in one tick; in two where the policy's numbers of
 * blocks stand for tags the node does not know.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function readHeads(
  client: Client,
  { blocks }: Pick<SettledPolicy, 'blocks'>,
  number?: bigint | undefined,
): Promise<ChainHeads> {
  const [latest, safe, finalized, asked] = await Promise.all([
    getBlockHead(client, 'latest'),
    orNone(getBlockHead(client, 'safe')),
    orNone(getBlockHead(client, 'finalized')),
    number === undefined ? undefined : orNone(getBlockHead(client, number)),
  ])
  if (!latest?.hash)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'names no latest block',
    })
  const head = { ...latest, hash: latest.hash }
  if (!blocks || (safe && finalized))
    return { latest: head, safe, finalized, asked }
  const below = (depth: number) => {
    const wanted = latest.number - BigInt(depth)
    return wanted < 0n ? undefined : getBlockHead(client, wanted)
  }
  const [deep, deepest] = await Promise.all([
    safe ?? below(blocks.safe),
    finalized ?? below(blocks.finalized),
  ])
  return { latest: head, safe: deep, finalized: deepest, asked }
}
