import type { Address } from 'viem'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { type OrdersContext, watchKey } from '../../orders/engine.js'
import type { ClientGroup } from './groupByClient.js'

/** How far the charges of one manager are read. */
export type ChargesCursor = {
  /** The first block that the next run reads. */
  block: bigint
  /** Earlier blocks with a charge that could not be read, ascending. */
  failed: readonly bigint[]
}

/** The cursor of all recipients that a client's destinations have. */
export type SharedChargesCursor = ChargesCursor & {
  /**
   * The recipients that are read up to the cursor. Others are behind, such as
   * new ones.
   */
  recipients: readonly Address[]
  /** The first block to read for recipients whose logs the node refused. */
  behind: ReadonlyMap<Address, bigint>
}

/** The newest blocks are read again: a reorganization may replace them. */
const overlap = 64n

/** Most failed blocks of a cursor. */
const mostFailed = 1000

/**
 * The newest block from which the next run may read on. All earlier blocks are
 * final, and far below the head: a node's logs may lag behind its blocks. Pure.
 */
export function settledBlock({
  latest,
  finalized,
}: Pick<ChainHeads, 'latest' | 'finalized'>): bigint {
  const deep = latest.number > overlap ? latest.number - overlap : 0n
  return finalized && finalized.number < deep ? finalized.number : deep
}

/**
 * The cursor when all blocks before `block` are read, except those that failed.
 * With too many failed blocks, it stops at the first one that the list cannot
 * hold. Pure.
 */
export function planChargesCursor(
  block: bigint,
  failed: Iterable<bigint>,
): ChargesCursor {
  const earlier = [...new Set(failed)]
    .filter((one) => one < block)
    .sort((one, other) => (one < other ? -1 : 1))
  return {
    block: earlier[mostFailed] ?? block,
    failed: earlier.slice(0, mostFailed),
  }
}

/** What has a cursor: the charges of a manager at a client's destinations. */
type CursorPlace = { group: ClientGroup; manager: Address }

/** Loads the cursor, if the charges of this manager were ever read. */
export async function loadChargesCursor(
  context: Pick<OrdersContext, 'store' | 'watches'>,
  place: CursorPlace,
): Promise<SharedChargesCursor | undefined> {
  const key = chargesKey(context, place)
  const value = await context.store.read((tables) => tables.getValue(key))
  if (!value) return undefined
  const failed: unknown[] = Object(value).failed
  const recipients: Address[] = Object(value).recipients
  return {
    block: BigInt(String(value.block)),
    failed: failed.map((one) => BigInt(String(one))),
    recipients,
    behind: new Map(
      Object.entries(Object(value.behind)).map(([recipient, block]) => [
        recipient as Address,
        BigInt(String(block)),
      ]),
    ),
  }
}

export async function saveChargesCursor(
  context: Pick<OrdersContext, 'store' | 'watches'>,
  place: CursorPlace,
  { block, failed, recipients, behind }: SharedChargesCursor,
): Promise<void> {
  const value = {
    block: String(block),
    failed: failed.map(String),
    recipients,
    behind: Object.fromEntries(
      [...behind].map(([recipient, first]) => [recipient, String(first)]),
    ),
  }
  await context.store.write((tables) =>
    tables.setValue(chargesKey(context, place), value),
  )
}

function chargesKey(
  context: Pick<OrdersContext, 'watches'>,
  { group: { chainId, tokens }, manager }: CursorPlace,
): string {
  const own = watchKey(context, { chainId, token: tokens[0] }, 'charges')
  return `${own}:${manager.toLowerCase()}`
}
