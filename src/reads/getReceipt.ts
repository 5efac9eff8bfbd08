import type { Address, Client, Hash, Hex } from 'viem'
import type { ProofReceipt } from '../base/receiptProof.js'
import { NodeAnswerError } from './errors.js'
import { readBytes, readQuantity, requestNode } from './requestNode.js'

const method = 'eth_getTransactionReceipt'

/** A receipt as far as it proves something; `undefined` for none yet. */
export async function getReceipt(
  client: Pick<Client, 'request'>,
  hash: Hash,
): Promise<ProofReceipt | undefined> {
  const answer = await requestNode(client, method, [hash])
  return answer ? readReceipt(answer, method) : undefined
}

export function readReceipt(answer: unknown, method: string): ProofReceipt {
  const receipt = readRecord(answer, method)
  if (!Array.isArray(receipt.logs))
    throw new NodeAnswerError({ method, problem: 'has no logs' })
  return {
    status:
      readQuantity(receipt.status, method) === 1n ? 'success' : 'reverted',
    transactionHash: readBytes(receipt.transactionHash, method),
    blockHash: readBytes(receipt.blockHash, method),
    blockNumber: readQuantity(receipt.blockNumber, method),
    from: readBytes(receipt.from, method) as Address,
    gasUsed: readQuantity(receipt.gasUsed, method),
    effectiveGasPrice: readQuantity(receipt.effectiveGasPrice ?? '0x0', method),
    blockTime: readBlockTime(receipt.logs),
    logs: receipt.logs.map((log) => readLog(log, method)),
  }
}

/** Most nodes put it on each log; else the block has to be asked for. */
function readBlockTime([log]: readonly unknown[]): bigint | undefined {
  const { blockTimestamp: time } = Object(log)
  const isTime = typeof time === 'string' && /^0x[\da-f]{1,16}$/i.test(time)
  return isTime ? BigInt(time) : undefined
}

export function readLog(
  answer: unknown,
  method: string,
): ProofReceipt['logs'][number] & { transactionHash: Hash } {
  const log = readRecord(answer, method)
  if (!Array.isArray(log.topics))
    throw new NodeAnswerError({ method, problem: 'has no topics' })
  return {
    address: readBytes(log.address, method),
    topics: log.topics.map((topic) => readBytes(topic, method)),
    data: readBytes(log.data, method),
    logIndex: Number(readQuantity(log.logIndex, method)),
    transactionHash: readBytes(log.transactionHash, method) as Hex,
  }
}

function readRecord(value: unknown, method: string): Record<string, unknown> {
  if (typeof value !== 'object' || !value)
    throw new NodeAnswerError({ method, problem: 'is not an object' })
  return value as Record<string, unknown>
}
