import type { Hash } from 'viem'
import type {
  Destination,
  Lease,
  PaymentStore,
  StoreReader,
} from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'

/** How far a destination is reconciled, as it is kept. */
export type DestinationCursor = {
  /** The first block that was ever looked at. */
  from: bigint
  /** The last block before which nothing is missing. */
  last: SeenBlock
  /** Heads seen before it, the lowest first, to find where a reorg began. */
  seen: readonly SeenBlock[]
}

/** The cursor as it is kept: pairs of a block's number and hash in `seen`. */
type StoredCursor = {
  from: string
  block: string
  hash: Hash
  seen: readonly (readonly [string, Hash])[]
}

/**
 * How many blocks below the newest each head is remembered, to find where a
 * reorganization began.
 */
export const traced = 64n

/** Most heads that are remembered. */
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

export async function loadCursor(
  tables: Pick<StoreReader, 'getValue'>,
  destination: Destination,
): Promise<DestinationCursor | undefined> {
  const value = await tables.getValue(destinationKey('cursor', destination))
  if (!value) return undefined
  const seen = Array.isArray(value.seen) ? value.seen : []
  return {
    from: BigInt(String(value.from)),
    last: parseSeen([value.block, value.hash]),
    seen: seen.map(parseSeen),
  }
}

export function encodeCursor({
  from,
  last,
  seen,
}: DestinationCursor): StoredCursor {
  return {
    from: String(from),
    block: String(last.number),
    hash: last.hash,
    seen: seen.map(({ number, hash }) => [String(number), hash]),
  }
}

function parseSeen(pair: readonly unknown[]): SeenBlock {
  return { number: BigInt(String(pair[0])), hash: String(pair[1]) as Hash }
}

/**
 * Writes how far a destination is reconciled. If another process has read
 * further meanwhile, its cursor stays.
 *
 * @param cursors.before the one that was read from.
 * @throws {@link LeaseLostError} when the watch's lease is someone else's.
 */
export async function moveCursor(
  { store }: { store: PaymentStore },
  {
    destination,
    lease,
  }: { destination: Destination; lease: Lease | undefined },
  {
    before,
    after,
  }: { before: DestinationCursor | undefined; after: DestinationCursor },
): Promise<void> {
  const key = destinationKey('cursor', destination)
  await store.write(
    async (tables) => {
      await tables.lock(key)
      const current = await loadCursor(tables, destination)
      const isOthers = current && current.last.hash !== before?.last.hash
      const isFurther = isOthers && current.last.number >= after.last.number
      const next = isFurther ? current : after
      const from =
        current && current.from < after.from ? current.from : after.from
      if (isFurther && from === current.from) return
      await tables.setValue(key, encodeCursor({ ...next, from }))
    },
    { lease },
  )
}
