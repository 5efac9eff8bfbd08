import type { ChainHeads } from '../../orders/evidence/getHeads.js'
import type { OrdersContext } from '../../orders/model/types.js'
import type { Destination } from '../../store/types.js'

/** Blocks that are read again, because a reorganization may replace them. */
const overlap = 64n

/**
 * The last block that is not read again: final, and well below the newest one,
 * since the logs of a node may be behind its blocks. Pure.
 */
export function settledBlock({
  latest,
  finalized,
}: Pick<ChainHeads, 'latest' | 'finalized'>): bigint {
  const deep = latest.number > overlap ? latest.number - overlap : 0n
  return finalized && finalized.number < deep ? finalized.number : deep
}

/** The first block whose charges may be missing on record, if one is known. */
export async function loadChargesCursor(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
): Promise<bigint | undefined> {
  const value = await store.read((tables) =>
    tables.getValue(chargesKey(destination)),
  )
  return value ? BigInt(String(value.block)) : undefined
}

export async function saveChargesCursor(
  { store }: Pick<OrdersContext, 'store'>,
  destination: Destination,
  block: bigint,
): Promise<void> {
  await store.write((tables) =>
    tables.setValue(chargesKey(destination), { block: String(block) }),
  )
}

function chargesKey({ chainId, token, recipient }: Destination): string {
  return `charges:${chainId}:${token}:${recipient}`
}
