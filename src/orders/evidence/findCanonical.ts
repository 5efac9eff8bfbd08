import type { Client, Hash } from 'viem'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'

/** A block that was the newest one in an earlier poll. */
export type SeenBlock = { number: bigint; hash: Hash }

/**
 * Finds which blocks of earlier polls are still in the chain. A block that the
 * node does not have proves no reorg, because the node may only be behind.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function findCanonical(
  client: Client,
  seen: readonly SeenBlock[],
): Promise<{ canonical: readonly SeenBlock[]; isReorged: boolean }> {
  const times = await getBlockTimes(
    client,
    seen.map(({ number }) => number),
  )
  const canonical = seen.filter(
    ({ number, hash }) => times.get(number)?.hash === hash,
  )
  const isReorged = seen.some(({ number, hash }) => {
    const found = times.get(number)
    return found !== undefined && found.hash !== hash
  })
  return { canonical, isReorged }
}
