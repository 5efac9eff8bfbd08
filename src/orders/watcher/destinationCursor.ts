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
  /** The block up to which, itself included, no payment is missing. */
  last: SeenBlock
  /** Heads seen before it, the lowest first, to find where a reorg began. */
  seen: readonly SeenBlock[]
  /** Absent while each reconciliation asks about all open orders. */
  walk?: OpenWalk | undefined
}

/**
 * A walk over the open orders that takes several reconciliations, because there
 * are many. Round after round, it asks what spent their nonces.
 */
export type OpenWalk = {
  /** Position of the last order asked about; absent before the first. */
  after: bigint | undefined
  /** This round asks from this block on. */
  since: bigint
  /** The next round asks from this block on; absent before the first part. */
  again: bigint | undefined
}

/**
 * Where the walk goes on after a reconciliation. Pure.
 *
 * @param done.fromBlock where the reconciliation began.
 * @param done.after position of the last order asked about; absent at the end.
 * @param done.isAll all open orders were asked about, since the first one.
 */
export function nextWalk(
  walk: OpenWalk | undefined,
  {
    fromBlock,
    after,
    isAll,
  }: { fromBlock: bigint; after: bigint | undefined; isAll: boolean },
): OpenWalk | undefined {
  const since = lowerOf(walk?.since, fromBlock)
  // An order that this round has passed is next asked about in the next one,
  // about all blocks from this reconciliation on.
  const again = lowerOf(walk?.again, fromBlock)
  if (after !== undefined) return { after, since, again }
  return isAll ? undefined : { after, since: again, again: undefined }
}

/** The lower of two blocks, where there are two. */
export function lowerOf(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other
}

/** The cursor as it is kept: pairs of a block's number and hash in `seen`. */
type StoredCursor = {
  from: string
  block: string
  hash: Hash
  seen: readonly (readonly [string, Hash])[]
  walk?: StoredWalk
}

type StoredWalk = { since: string; after?: string; again?: string }

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
    ...(value.walk ? { walk: parseWalk(Object(value.walk)) } : {}),
  }
}

function parseWalk({ after, since, again }: StoredWalk): OpenWalk {
  const parse = (text: unknown) =>
    text === undefined ? undefined : BigInt(String(text))
  return {
    after: parse(after),
    since: BigInt(String(since)),
    again: parse(again),
  }
}

export function encodeCursor({
  from,
  last,
  seen,
  walk,
}: DestinationCursor): StoredCursor {
  return {
    from: String(from),
    block: String(last.number),
    hash: last.hash,
    seen: seen.map(({ number, hash }) => [String(number), hash]),
    ...(walk ? { walk: encodeWalk(walk) } : {}),
  }
}

function encodeWalk({ after, since, again }: OpenWalk): StoredWalk {
  return {
    since: String(since),
    ...(after === undefined ? {} : { after: String(after) }),
    ...(again === undefined ? {} : { again: String(again) }),
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
