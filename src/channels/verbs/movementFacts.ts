import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { getToken } from '../../chain/state/getToken.js'
import { clientOf } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'
import type { MovementFacts } from '../movements/planMovement.js'
import { movementSubmitter } from '../movements/writeMovement.js'
import type { ChannelsContext } from './context.js'
import { NoSubmitterError } from './errors.js'

/**
 * Collects what the row of every movement to a destination needs. Asks the node
 * for the time: by a machine's clock that is an hour late, the movement would be
 * over before it is sent.
 *
 * @throws {@link NoSubmitterError} when no wallet may send for the recipient.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function movementFacts(
  { context }: ChannelsContext,
  destination: Destination,
): Promise<MovementFacts> {
  const { chainId, token: address, recipient } = destination
  const submitter = movementSubmitter(context, destination)
  if (!submitter) throw new NoSubmitterError({ chainId, recipient })
  const client = clientOf(context, destination)
  const [{ domain, decimals }, head] = await Promise.all([
    getToken(client, { token: address }),
    getBlockHead(client, 'latest'),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: 'has no latest block',
    })
  return { domain, decimals, submitter, createdAt: head.timestamp }
}
