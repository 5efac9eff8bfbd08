import type { BlockHead } from '../../chain/rpc/requestNode.js'
import { type ChainHeads, isSameBlock } from '../evidence/readHeads.js'
import type { SeenFinality, WatchMemory } from './watchState.js'

/** The safe and final blocks that two looks have confirmed. */
export type SureHeads = {
  safe: BlockHead | undefined
  finalized: BlockHead | undefined
}

/** Numbers of the unconfirmed blocks, which the next look reads to compare. */
export function findUnconfirmed({ finality }: WatchMemory): bigint[] {
  const claims = [finality?.safe.claimed, finality?.finalized.claimed]
  return claims.flatMap((claimed) => claimed?.number ?? [])
}

/**
 * Confirms safe and final blocks by two looks in a row: the first names a
 * block, the second names one at least as high and finds the first by its
 * number with the same hash. So one wrong answer makes nothing final.
 *
 * @param memory what the last look left; updated here.
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

/** Omits a confirmed block that is above the one the current look names. */
function reached(
  believed: BlockHead | undefined,
  named: BlockHead | undefined,
): BlockHead | undefined {
  const isReached = believed && named && named.number >= believed.number
  return isReached ? believed : undefined
}
