import type { Address, Client } from 'viem'
import { word } from '../../core/words.js'
import { encodeBlock, parseQuantity, requestNode } from '../rpc/requestNode.js'

/**
 * Gets the token balance of a recipient at a block, in base units of the token.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or has no state of that block.
 */
export async function getTokenBalance(
  client: Client,
  { token, recipient }: { token: Address; recipient: Address },
  block: bigint,
): Promise<bigint> {
  const method = 'eth_call'
  // `balanceOf(address)`
  const call = { to: token, data: `0x70a08231${word(recipient)}` }
  const answer = await requestNode(client, method, [call, encodeBlock(block)])
  return parseQuantity(answer, method)
}
