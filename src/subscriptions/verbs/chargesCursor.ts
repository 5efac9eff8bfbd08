import type { Address } from 'viem'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import type { OrdersContext } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'

/** How far the charges of one manager were read for a destination. */
export type ChargesCursor = {
  /** The first block that the next run reads. */
  block: bigint
  /** Earlier blocks with a charge that could not be read, ascending. */
  failed: readonly bigint[]
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

/** Loads the cursor, if the charges of this manager were ever read. */
export async function loadChargesCursor(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
  manager: Address,
): Promise<ChargesCursor | undefined> {
  const value = await store.read((tables) =>
    tables.getValue(chargesKey(destination, manager)),
  )
  if (!value) return undefined
  const failed: unknown[] = Object(value).failed
  return {
    block: BigInt(String(value.block)),
    failed: failed.map((one) => BigInt(String(one))),
  }
}

export async function saveChargesCursor(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
  manager: Address,
  { block, failed }: ChargesCursor,
): Promise<void> {
  const value = { block: String(block), failed: failed.map(String) }
  await store.write((tables) =>
    tables.setValue(chargesKey(destination, manager), value),
  )
}

function chargesKey(
  { chainId, token, recipient }: Destination,
  manager: Address,
): string {
  return `charges:${chainId}:${token}:${recipient}:${manager.toLowerCase()}`
}
