import type { Client } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { type BlockHead, getBlockHead } from '../rpc/requestNode.js'

/**
 * Finds the number of the first block that is not older than a time, or of the
 * newest block if all are older. Goes back in doubling steps, then halves the
 * range.
 *
 * @param timestamp Unix seconds.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or does not have a block below its newest one.
 */
export async function findBlockAt(
  client: Client,
  timestamp: bigint,
  head: BlockHead,
): Promise<bigint> {
  const isOlder = async (number: bigint) => {
    const block = await getBlockHead(client, number)
    if (block) return block.timestamp < timestamp
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `has no block ${number}`,
    })
  }
  let young = head.number
  let old = -1n
  for (let step = 16n; old < 0n && young > 0n; step *= 2n) {
    const number = young > step ? young - step : 0n
    if (await isOlder(number)) old = number
    else young = number
  }
  while (young - old > 1n) {
    const middle = (young + old) / 2n
    if (await isOlder(middle)) old = middle
    else young = middle
  }
  return young
}
