import type { Client, Hash } from 'viem'
import type { ProofReceipt } from '../base/receiptProof.js'
import { askInChunks } from './askInChunks.js'
import { getReceipt } from './getReceipt.js'

/**
 * Receipts in the order of the hashes, `undefined` where there is none yet.
 * Over a batching transport a hundred travel as one request.
 *
 * Each is answered on its own: a block may come between two of them.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export function getReceipts(
  client: Pick<Client, 'request'>,
  hashes: readonly Hash[],
): Promise<readonly (ProofReceipt | undefined)[]> {
  return askInChunks(hashes, (hash) => getReceipt(client, hash))
}
