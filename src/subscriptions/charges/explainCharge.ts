import type { Client, Hash } from 'viem'
import { isTemporary } from '../../chain/rpc/classifyFailure.js'
import { NodeError } from '../../chain/rpc/errors.js'
import {
  encodeBlock,
  requestNode,
  tryRequest,
} from '../../chain/rpc/requestNode.js'
import { getSpendPermission } from '../permission/getSpendPermission.js'
import { refusalOf } from '../permission/judgePermission.js'
import type { ChargePayment } from './chargePayment.js'
import { type ChargeReason, chargeReason } from './rehearseCharge.js'

/**
 * Finds out why a charge's transaction failed: repeats its call on the state
 * after its block, where the cause of the failure usually still holds.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function explainCharge(
  client: Client,
  { permission }: ChargePayment,
  {
    transactionHash,
    blockNumber,
  }: { transactionHash: Hash; blockNumber: bigint },
): Promise<ChargeReason> {
  const sent = Object(
    await requestNode(client, 'eth_getTransactionByHash', [transactionHash]),
  )
  const method = 'eth_call'
  const { failure } = await tryRequest(client, method, [
    { from: sent.from, to: sent.to, data: sent.input, gas: sent.gas },
    encodeBlock(blockNumber),
  ])
  if (!failure) return 'simulationFailed'
  const isReplayed = /revert|evm|gas|opcode/i.test(failure.words)
  if (isTemporary(failure) && !isReplayed)
    throw new NodeError({ method, failure })
  const { data = '0x', words } = failure
  const reason = chargeReason(refusalOf({ data, words }).reason)
  if (reason !== 'revoked') return reason
  // The manager gives the same error when a reorg removed the approval. Then
  // the permission is not revoked, and must be approved again.
  const { revoked } = await getSpendPermission(client, { permission })
  return revoked ? reason : 'simulationFailed'
}
