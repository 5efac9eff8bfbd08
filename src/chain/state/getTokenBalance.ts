import type { Address, Client } from 'viem'
import { word } from '../../core/words.js'
import { encodeBlock, parseQuantity, requestNode } from '../rpc/requestNode.js'
import type { Call } from './types.js'

/**
 * Gets `balanceOf` a recipient after a block, in token units.
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
  const { target, data } = balanceCall(token, recipient)
  const call = { to: target, data: `0x${data}` }
  const answer = await requestNode(client, method, [call, encodeBlock(block)])
  return parseQuantity(answer, method)
}

export function balanceCall(token: Address, account: Address): Call {
  return {
    target: token,
    // biome-ignore lint/style/useTemplate: of `balanceOf(address)`, and smaller so
    data: '70a08231' + word(account),
    gas: 100_000,
  }
}
