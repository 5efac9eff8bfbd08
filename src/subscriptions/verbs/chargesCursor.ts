import type { Address } from 'viem'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import type { ClientGroup } from '../../orders/engine.js'
import { type OrdersContext, watchKey } from '../../orders/engine.js'
import {
  fields,
  hexForm,
  integerForm,
  listOf,
  mapOf,
  type Setting,
  setting,
} from '../../store/setting.js'

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
 * The stored cursor of the charges by one manager contract to the recipients of
 * a client.
 */
export function chargesCursor(
  context: Pick<OrdersContext, 'watches'>,
  {
    group: { chainId, tokens },
    manager,
  }: { group: ClientGroup; manager: Address },
): Setting<SharedChargesCursor> {
  const own = watchKey(context, { chainId, token: tokens[0] }, 'charges')
  return setting(
    `${own}:${manager.toLowerCase()}`,
    fields<SharedChargesCursor>({
      block: integerForm,
      failed: listOf(integerForm),
      recipients: listOf(hexForm),
      behind: mapOf(hexForm, integerForm),
    }),
  )
}
