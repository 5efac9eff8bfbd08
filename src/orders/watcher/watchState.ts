import type { Hash } from 'viem'
import type { BlockHead } from '../../chain/rpc/requestNode.js'
import type {
  Destination,
  JsonObject,
  Lease,
  StoreReader,
} from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import type { Aside } from '../model/putAside.js'

/** The block the node named for one tag, and the one that is confirmed. */
export type SeenFinality = {
  /** Named by the last look, and not confirmed yet. */
  claimed: BlockHead | undefined
  believed: BlockHead | undefined
}

/** How far a destination is reconciled, as it is kept. */
export type DestinationCursor = {
  /** The first block that was ever looked at. */
  from: bigint
  /** The last block before which nothing is missing. */
  last: SeenBlock
  /** Heads seen before it, the lowest first, to find where a chain forked. */
  seen: readonly SeenBlock[]
}

/** What a watcher remembers between two ticks; starts as `{}`. */
export type WatchMemory = {
  lease?: Lease | undefined
  /** Steps of a look, and orders, that failed and wait for their next try. */
  aside?: Aside | undefined
  /**
   * Single things that failed, by name: their step, and when they are due
   * again.
   */
  apart?: Map<string, { step: string; due: bigint }> | undefined
  /** Heads that a later look found again by number, the lowest first. */
  seen?: readonly SeenBlock[] | undefined
  /** The head of the last look, not yet found again by another look. */
  head?: SeenBlock | undefined
  /** Looks in a row at which the node was behind a block seen before. */
  behind?: { looks: number; from: bigint; newest: bigint } | undefined
  /** The highest seen block that was given up because no node knows it. */
  dropped?: bigint | undefined
  /** Drafts that were unpaid at their end, by id: when we first saw that. */
  unpaid?: Map<string, bigint> | undefined
  /** The blocks that the last looks named as safe and final. */
  finality?: { safe: SeenFinality; finalized: SeenFinality } | undefined
  /** Proofs from here on are not yet known to be where they were. */
  recheckFrom?: bigint | undefined
  /**
   * When to reconcile next, in milliseconds of `performance`: the wall clock may
   * be set back.
   */
  nextReconcile?: number | undefined
  /** When to look back to the last final block next. */
  nextDeepReconcile?: number | undefined
  /** Place in the stream up to which captures were announced. */
  fulfilledTo?: bigint | undefined
}

/** Blocks a reorganization is traced back to the block. */
export const traced = 64n

/** Heads kept at most, however close they are. */
const mostSeen = 80

/** The cursor's and the lease's place in the store. */
export const destinationKey = (
  kind: 'cursor' | 'watch' | 'fulfilled',
  { chainId, token, recipient }: Destination,
): string => `${kind}:${chainId}:${token}:${recipient}`

/** Adds a head to the ones seen, and forgets what is too deep. */
export function addSeen(
  seen: readonly SeenBlock[],
  head: SeenBlock,
): readonly SeenBlock[] {
  const below = seen.filter(({ number }) => number < head.number)
  const isDeep = ({ number }: SeenBlock) => number + traced <= head.number
  const deep = below.filter(isDeep).slice(-1)
  const near = below.filter((block) => !isDeep(block))
  return [...deep, ...near, head].slice(-mostSeen)
}

export async function readCursor(
  tables: Pick<StoreReader, 'getValue'>,
  destination: Destination,
): Promise<DestinationCursor | undefined> {
  const value = await tables.getValue(destinationKey('cursor', destination))
  if (!value) return undefined
  const seen = Array.isArray(value.seen) ? value.seen : []
  return {
    from: BigInt(String(value.from)),
    last: readSeen([value.block, value.hash]),
    seen: seen.map(readSeen),
  }
}

export function encodeCursor({
  from,
  last,
  seen,
}: DestinationCursor): JsonObject {
  return {
    from: String(from),
    block: String(last.number),
    hash: last.hash,
    seen: seen.map(({ number, hash }) => [String(number), hash]),
  }
}

function readSeen(pair: readonly unknown[]): SeenBlock {
  return { number: BigInt(String(pair[0])), hash: String(pair[1]) as Hash }
}
