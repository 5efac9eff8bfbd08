import { getToken } from '../../chain/state/getToken.js'
import { clientOf } from '../../orders/engine.js'
import type { Destination } from '../../store/types.js'
import type { MovementFacts } from '../movements/planMovement.js'
import { movementSubmitter } from '../movements/writeMovement.js'
import type { ChannelsContext } from './context.js'
import { NoSenderError } from './errors.js'

/**
 * Collects what the row of every movement to a destination needs.
 *
 * @param now Unix seconds of the chain, or of this machine's clock.
 * @throws {@link NoSenderError} when no wallet may send for the recipient.
 * @throws {@link NodeError} {@link NodeAnswerError} when the token is not known
 * yet and the node does not answer.
 */
export async function movementFacts(
  { context }: ChannelsContext,
  destination: Destination,
  now: bigint,
): Promise<MovementFacts> {
  const { chainId, token: address, recipient } = destination
  const submitter = movementSubmitter(context, destination)
  if (!submitter) throw new NoSenderError({ chainId, recipient })
  const client = clientOf(context, destination)
  const { domain, decimals } = await getToken(client, { token: address })
  return { domain, decimals, submitter, createdAt: now }
}
