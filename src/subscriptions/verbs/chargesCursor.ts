import type { Address } from 'viem'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import { type OrdersContext, watchKey } from '../../orders/engine.js'
import type { ClientGroup } from './groupByClient.js'

/**
 * How far the chain was searched for the charges of one
 * `SpendPermissionManager`.
 */
export type ChargesCursor = {
  /** The first block that the next run reads. */
  block: bigint
  /**
   * Earlier blocks with a charge that could not be read, in ascending order.
   * The next run reads them again.
   */
  failed: readonly bigint[]
}

/** The search position that all recipients on one client share. */
export type SharedChargesCursor = ChargesCursor & {
  /**
   * Recipients whose charges are read up to `block`. A recipient that is not in
   * this list, such as a new one, must be read from an earlier block.
   */
  recipients: readonly Address[]
  /**
   * Recipients whose logs the node refused, with the first block to read again.
   */
  behind: ReadonlyMap<Address, bigint>
}

/**
 * Each run reads this many of the newest blocks again, because a reorganization
 * may have replaced them.
 */
const overlap = 64n

/** Most blocks to remember for another try. */
const mostFailed = 1000

/**
 * Returns the highest block from which the next run may continue. All blocks
 * before it are final. It stays well below the chain's newest block, because a
 * node may have a block before it can return the logs of that block.
 */
export function settledBlock({
  latest,
  finalized,
}: Pick<ChainHeads, 'latest' | 'finalized'>): bigint {
  const deep = latest.number > overlap ? latest.number - overlap : 0n
  return finalized && finalized.number < deep ? finalized.number : deep
}

/**
 * Builds the cursor after all blocks before `block` were read, except those
 * that failed. If more blocks failed than the list can hold, the cursor stops
 * at the first of the rest, so that none is skipped.
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

/**
 * What has one cursor: the charges by one manager contract to the recipients of
 * a client.
 */
type CursorPlace = { group: ClientGroup; manager: Address }

/**
 * Loads the cursor. Returns `undefined` if the charges of this manager were
 * never read.
 */
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
