import type { Client, Hash } from 'viem'
import { standsInBlock } from '../../chain/logs/standsInBlock.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { getReceipt } from '../../chain/state/getReceipt.js'
import type { HasKinds } from '../model/kindOf.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import type { Evidence } from '../model/settleOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'

/**
 * Reads what the receipt of a transaction proves about an attempt: its capture
 * or its cancellation. Returns `undefined` if the transaction does not stand
 * in a block of the chain, or proves neither.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function getProof(
  client: Client,
  stored: Pick<StoredOrder, 'order' | 'attempt'> & HasKinds,
  hash: Hash,
): Promise<Evidence | undefined> {
  const receipt = await getReceipt(client, hash)
  const head = receipt && (await getBlockHead(client, receipt.blockNumber))
  if (!head || !standsInBlock(receipt, head)) return undefined
  const proof = proofRecordOf(stored, receipt, stored, head.timestamp)
  return (
    proof && { kind: proof.kind === 'cancel' ? 'cancel' : 'capture', proof }
  )
}
