import type { Client } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { getChainId } from '../rpc/requestNode.js'

/**
 * Checks that a node is on the expected chain. A provider can route a URL to
 * another chain, whose times and nonces say nothing about payments here.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or is on another chain.
 */
export async function checkChain(
  client: Client,
  chainId: number,
): Promise<void> {
  const found = await getChainId(client)
  if (found !== chainId) throw otherChain(found, chainId)
}

/** The error about a node that is on another chain than expected. */
export function otherChain(found: number, chainId: number): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_chainId',
    problem: `is ${found}, and not ${chainId}: check the URL of the node`,
  })
}
