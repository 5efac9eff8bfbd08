import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { checkClock } from '../../core/clock.js'
import { OrdersSetupError } from '../model/errors.js'
import type { OrdersContext } from '../model/types.js'

/**
 * The newest time of an order's chain, in Unix seconds.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function getChainTime(
  { tokens, now }: OrdersContext,
  chainId: number,
): Promise<bigint> {
  const known = tokens.find((token) => token.chainId === chainId)
  if (!known) throw new OrdersSetupError(`have no client of chain ${chainId}`)
  const head = await getBlockHead(known.client, 'latest')
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'names no latest block',
    })
  checkClock({ timestamp: head.timestamp, chainId }, now() / 1000n)
  return head.timestamp
}
