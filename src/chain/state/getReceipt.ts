import type { Client, Hash } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import {
  readBytes,
  readList,
  readQuantity,
  requestNode,
} from '../rpc/requestNode.js'

const method = 'eth_getTransactionReceipt'

/**
 * Reads a receipt. `undefined` if there is none yet, or if it names no block,
 * as some nodes answer for transactions in their pool.
 */
export async function getReceipt(
  client: Pick<Client, 'request'>,
  hash: Hash,
): Promise<ProofReceipt | undefined> {
  const answer = await requestNode(client, method, [hash])
  return readReceipt(answer, method)
}

export function readReceipt(
  answer: unknown,
  method: string,
): ProofReceipt | undefined {
  if (!answer) return undefined
  const receipt = Object(answer)
  // Without a block, other fields may be missing too; read none of them.
  if (receipt.blockHash === null || receipt.blockNumber === null)
    return undefined
  return {
    status:
      readQuantity(receipt.status, method) === 1n ? 'success' : 'reverted',
    transactionHash: readBytes(receipt.transactionHash, method),
    blockHash: readBytes(receipt.blockHash, method),
    blockNumber: readQuantity(receipt.blockNumber, method),
    from: readBytes(receipt.from, method),
    gasUsed: readQuantity(receipt.gasUsed, method),
    effectiveGasPrice: readQuantity(receipt.effectiveGasPrice ?? '0x0', method),
    logs: readList(receipt.logs, method).map((log) => readLog(log, method)),
  }
}

function readLog(
  answer: unknown,
  method: string,
): ProofReceipt['logs'][number] {
  const log = Object(answer)
  return {
    address: readBytes(log.address, method),
    topics: readList(log.topics, method).map((it) => readBytes(it, method)),
    data: readBytes(log.data, method),
    logIndex: Number(readQuantity(log.logIndex, method)),
  }
}
