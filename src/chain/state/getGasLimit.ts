import type { Client } from 'viem'
import { parseQuantity, requestNode } from '../rpc/requestNode.js'

/**
 * Gets how much gas the newest block may use.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getGasLimit(client: Client): Promise<bigint> {
  const method = 'eth_getBlockByNumber'
  const block = await requestNode(client, method, ['latest', false])
  return parseQuantity(Object(block).gasLimit, method)
}
