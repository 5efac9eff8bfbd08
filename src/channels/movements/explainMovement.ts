import type { Client, Hash } from 'viem'
import { encodeBlock, requestNode } from '../../chain/rpc/requestNode.js'
import { type MovementReason, movementReason } from './channelRefusal.js'
import { tryCall } from './estimateCall.js'
import type { ChannelMovement } from './movementTerms.js'

/**
 * Finds out why the transaction of a movement failed: repeats its call on the
 * state after its block, where the cause usually still holds.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function explainMovement(
  client: Client,
  { movement }: ChannelMovement,
  {
    transactionHash,
    blockNumber,
  }: { transactionHash: Hash; blockNumber: bigint },
): Promise<MovementReason> {
  const sent = Object(
    await requestNode(client, 'eth_getTransactionByHash', [transactionHash]),
  )
  const { from, to, input: data, gas } = sent
  const played = await tryCall(client, 'eth_call', [
    { from, to, data, gas },
    encodeBlock(blockNumber),
  ])
  return 'refusal' in played
    ? movementReason(movement, played.refusal)
    : 'simulationFailed'
}
