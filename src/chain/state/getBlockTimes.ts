import type { Client, Hash } from 'viem'
import { askInChunks } from '../rpc/askInChunks.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { getBlockHead } from '../rpc/requestNode.js'

/**
 * Hash and time of a block. The hash shows whether a reorganization replaced
 * it.
 */
export type BlockTime = {
  hash: Hash
  /** Unix seconds. */
  timestamp: bigint
}

/**
 * Gets hash and time of blocks by number. Leaves out blocks that do not exist
 * yet. A batching transport sends a hundred in one request.
 *
 * The answers are independent: a reorganization can happen between two.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getBlockTimes(
  client: Pick<Client, 'request'>,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, BlockTime>> {
  const wanted = [...new Set(numbers)]
  const heads = await askInChunks(wanted, (number) =>
    getBlockHead(client, number),
  )
  const times = new Map<bigint, BlockTime>()
  for (const [at, number] of wanted.entries()) {
    const head = heads[at]
    if (!head) continue
    const { hash, timestamp } = head
    if (hash === undefined || head.number !== number)
      throw new NodeAnswerError({
        method: 'eth_getBlockByNumber',
        problem: `is not block ${number}`,
      })
    times.set(number, { hash, timestamp })
  }
  return times
}
