import type { Hash } from 'viem'
import type {
  Destination,
  Lease,
  PaymentStore,
  StoreReader,
} from '../../store/types.js'
import type { SeenBlock } from '../evidence/findCanonical.js'

/** How far a destination is reconciled. */
export type DestinationCursor = {
  /** The first block that a reconciliation ever read. */
  from: bigint
  /** No payment is missing up to this block, inclusive. */
  last: SeenBlock
  /** Heads seen earlier, lowest first; they show where a reorg began. */
  seen: readonly SeenBlock[]
  /** Absent while each reconciliation asks about all open orders. */
  walk?: OpenWalk | undefined
}

/**
 * A walk over all open orders. It takes several reconciliations if there are
 * too many orders for one. Each round asks the chain what spent their nonces.
 */
export type OpenWalk = {
  /** Position of the last order asked about; absent before the first. */
  after: bigint | undefined
  /** First block that this round asks about. */
  since: bigint
  /** First block of the next round; absent before the first part. */
  again: bigint | undefined
}

/**
 * Where the walk continues after a reconciliation. Pure.
 *
 * @param done.fromBlock where the reconciliation began.
 * @param done.after position of the last order asked about; absent at the end.
 * @param done.isAll true when the walk began at the first open order.
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
  // The next round asks about all blocks since this reconciliation for the
  // orders that this round has passed.
  const again = lowerOf(walk?.again, fromBlock)
  if (after !== undefined) return { after, since, again }
  return isAll ? undefined : { after, since: again, again: undefined }
}

/** The lower of two blocks; the second one if the first is absent. */
export function lowerOf(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other
}

/** The cursor as stored; `seen` has pairs of block number and hash. */
type StoredCursor = {
  from: string
  block: string
  hash: Hash
  seen: readonly (readonly [string, Hash])[]
  walk?: StoredWalk
}

type StoredWalk = { since: string; after?: string; again?: string }

/**
 * Number of blocks below the newest for which every seen head is kept, to find
 * where a reorganization began.
 */
export const traced = 64n

/** Maximum number of seen heads to keep. */
const mostSeen = 80

/**
 * The key in the store of a destination's cursor, lease or fulfilment place.
 */
export const destinationKey = (
  kind: 'cursor' | 'watch' | 'fulfilled',
  { chainId, token, recipient }: Destination,
): string => `${kind}:${chainId}:${token}:${recipient}`

/**
 * Adds a head to the seen ones. Keeps only one head at least 64 blocks below
 * it.
 */
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
 * further in the meantime, its cursor stays.
 *
 * @param cursors.before the cursor from which this reconciliation began.
 * @throws {@link LeaseLostError} when another process holds the lease of the
 * watch.
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
