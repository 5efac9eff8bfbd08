import type { Client, Hash } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { askInChunks } from '../rpc/askInChunks.js'
import {
  parseBytes,
  parseList,
  parseQuantity,
  requestNode,
} from '../rpc/requestNode.js'

const method = 'eth_getTransactionReceipt'

/**
 * Gets a receipt. Returns `undefined` if there is none yet, or if it names no
 * block, as some nodes answer for transactions in their mempool.
 */
export async function getReceipt(
  client: Pick<Client, 'request'>,
  hash: Hash,
): Promise<ProofReceipt | undefined> {
  const answer = await requestNode(client, method, [hash])
  return parseReceipt(answer, method)
}

export function parseReceipt(
  answer: unknown,
  method: string,
): ProofReceipt | undefined {
  if (!answer) return undefined
  const receipt = Object(answer)
  // A receipt without a block can lack other fields too, so read none of them.
  if (receipt.blockHash === null || receipt.blockNumber === null)
    return undefined
  return {
    status:
      parseQuantity(receipt.status, method) === 1n ? 'success' : 'reverted',
    transactionHash: parseBytes(receipt.transactionHash, method),
    blockHash: parseBytes(receipt.blockHash, method),
    blockNumber: parseQuantity(receipt.blockNumber, method),
    from: parseBytes(receipt.from, method),
    gasUsed: parseQuantity(receipt.gasUsed, method),
    effectiveGasPrice: parseQuantity(
      receipt.effectiveGasPrice ?? '0x0',
      method,
    ),
    logs: parseList(receipt.logs, method).map((log) =>
      parseProofLog(log, method),
    ),
  }
}

function parseProofLog(
  answer: unknown,
  method: string,
): ProofReceipt['logs'][number] {
  const log = Object(answer)
  return {
    address: parseBytes(log.address, method),
    topics: parseList(log.topics, method).map((it) => parseBytes(it, method)),
    data: parseBytes(log.data, method),
    logIndex: Number(parseQuantity(log.logIndex, method)),
  }
}

/**
 * Gets receipts in the order of the hashes; `undefined` for one that does not
 * exist yet or names no block. A batching transport sends a hundred in one
 * request.
 *
 * A new block can come between two answers, so they can be of different states
 * of the chain.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export function getReceipts(
  client: Pick<Client, 'request'>,
  hashes: readonly Hash[],
): Promise<readonly (ProofReceipt | undefined)[]> {
  return askInChunks(hashes, async (hash) => {
    const answer = await requestNode(client, method, [hash])
    const receipt = parseReceipt(answer, method)
    const blockTime = parseBlockTime(Object(answer).logs)
    return receipt && { ...receipt, blockTime }
  })
}

/**
 * Returns the block time that most nodes put on each log. Without it, the
 * caller has to request the block.
 */
function parseBlockTime(logs: unknown): bigint | undefined {
  const { blockTimestamp: time } = Object(Array.isArray(logs) ? logs[0] : {})
  const isTime = typeof time === 'string' && /^0x[\da-f]{1,16}$/i.test(time)
  return isTime ? BigInt(time) : undefined
}
