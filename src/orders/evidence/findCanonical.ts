import type { Client, Hash } from 'viem'
import { getBlockTimes } from '../../chain/state/getBlockTimes.js'

/** A block that was the newest one in a poll of this instance. */
export type SeenBlock = { number: bigint; hash: Hash }

/**
 * Finds the seen blocks that are still in the chain. A block the node does not
 * know is no sign of a reorg: the node may only be behind.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer does not fit the request.
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
