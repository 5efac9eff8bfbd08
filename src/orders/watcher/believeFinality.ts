import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { type ChainHeads, isSameBlock } from '../../chain/state/getHeads.js'
import type { SettledPolicy } from '../model/types.js'
import type { SeenFinality, SureHeads, WatchMemory } from './watchState.js'

/**
 * Numbers of the blocks that the last poll named as `safe` and `finalized`. The
 * next poll reads them again to confirm them.
 */
export function findUnconfirmed({ finality }: WatchMemory): bigint[] {
  const claims = [finality?.safe.claimed, finality?.finalized.claimed]
  return claims.flatMap((claimed) => claimed?.number ?? [])
}

/**
 * Confirms the `safe` and `finalized` blocks by two polls in a row. The first
 * poll names a block. The second one must name the same or a higher block, and
 * find the first block by its number with the same hash. So a single wrong
 * answer of a node makes no order final.
 *
 * @param memory state of the last poll; this function updates it.
 */
export function believeFinality(
  memory: WatchMemory,
  { safe, finalized, fault, blocks }: ChainHeads,
): SureHeads {
  if (fault) return { safe: undefined, finalized: undefined }
  const before = memory.finality
  const seen = {
    safe: compare(before?.safe, safe, blocks),
    finalized: compare(before?.finalized, finalized, blocks),
  }
  memory.finality = seen
  return {
    safe: reached(seen.safe.believed, safe),
    finalized: reached(seen.finalized.believed, finalized),
  }
}

function compare(
  before: SeenFinality | undefined,
  named: BlockHead | undefined,
  blocks: ChainHeads['blocks'],
): SeenFinality {
  const { claimed, believed } = before ?? {}
  if (!named) return { claimed: undefined, believed }
  const isConfirmed =
    claimed !== undefined &&
    isSameBlock(claimed, blocks.get(claimed.number)) &&
    (named.number > claimed.number || isSameBlock(claimed, named))
  const next = isConfirmed ? claimed : believed
  const isKnown = next !== undefined && isSameBlock(next, named)
  return { claimed: isKnown ? undefined : named, believed: next }
}

/**
 * Leaves out a confirmed block that is higher than the one this poll names: the
 * node is behind.
 */
function reached(
  believed: BlockHead | undefined,
  named: BlockHead | undefined,
): BlockHead | undefined {
  const isReached = believed && named && named.number >= believed.number
  return isReached ? believed : undefined
}

/**
 * Returns an error if the node cannot show the finality at which the policy
 * fulfils orders.
 */
export function findFinalityFault(
  { blocks, fulfilAt }: Pick<SettledPolicy, 'blocks' | 'fulfilAt'>,
  {
    safe,
    finalized,
    fault,
  }: {
    [tag in 'safe' | 'finalized']: ChainHeads[tag]
  } & Partial<Pick<ChainHeads, 'fault'>>,
): Error | undefined {
  if (fault || blocks || finalized) return fault
  if (fulfilAt === 'safe' && safe) return undefined
  const tag = fulfilAt === 'safe' ? 'safe' : 'finalized'
  const effect =
    fulfilAt === 'included' ? 'no order becomes final' : 'no order is fulfilled'
  return new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `has no ${tag} block: set policy.blocks, or ${effect}`,
  })
}
