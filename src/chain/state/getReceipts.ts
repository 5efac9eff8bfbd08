import type { Client, Hash } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { askInChunks } from '../rpc/askInChunks.js'
import { requestNode } from '../rpc/requestNode.js'
import { readReceipt } from './getReceipt.js'

const method = 'eth_getTransactionReceipt'

/**
 * Receipts in the order of the hashes; `undefined` where there is none yet, or
 * where it names no block. Over a batching transport a hundred travel as one
 * request.
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
  return askInChunks(hashes, async (hash) => {
    const answer = await requestNode(client, method, [hash])
    const receipt = readReceipt(answer, method)
    const blockTime = readBlockTime(Object(answer).logs)
    return receipt && { ...receipt, blockTime }
  })
}

/** Most nodes put it on each log; else the block has to be asked for. */
function readBlockTime(logs: unknown): bigint | undefined {
  const { blockTimestamp: time } = Object(Array.isArray(logs) ? logs[0] : {})
  const isTime = typeof time === 'string' && /^0x[\da-f]{1,16}$/i.test(time)
  return isTime ? BigInt(time) : undefined
}
