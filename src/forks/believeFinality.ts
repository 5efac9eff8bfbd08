import type { BlockHead } from '../rpc/requestNode.js'
import { type ChainHeads, isSameBlock } from './readHeads.js'
import type { WatchMemory } from './watchState.js'

/** The blocks that can be relied on as safe and as final. */
export type SureHeads = {
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
}

/** What was said about one tag, and what of it counts. */
export type SeenFinality = {
  /** What the last look named; another look has to agree. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/** The numbers to read with the next heads, to compare what the last named. */
export function findUnconfirmed({ finality }: WatchMemory): bigint[] {
  const claims = [finality?.safe.claimed, finality?.finalized.claimed]
  return claims.flatMap((claimed) => claimed?.number ?? [])
}

/**
 * What two looks in a row agree on: the first named the block, the second one
 * at least as high, and the block has the same hash by its number. One wrong
 * answer makes nothing final.
 *
 * @param memory what the last look left; it is changed.
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

/** A look that names less does not rely on more. */
function reached(
  believed: BlockHead | undefined,
  named: BlockHead | undefined,
): BlockHead | undefined {
  const isReached = believed && named && named.number >= believed.number
  return isReached ? believed : undefined
}
