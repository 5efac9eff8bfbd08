import type { Address, Hash, Hex } from 'viem'
import { same } from '../../core/receiptProof.js'
import { NodeAnswerError } from '../rpc/errors.js'
import { parseList } from '../rpc/requestNode.js'
import { logMatcher, type WireFilter } from './encodeLogFilter.js'
import { namesBlock } from './standsInBlock.js'
import type { ReadLog } from './types.js'

/**
 * Parses a log. Checks only the fields that later code uses, because one answer
 * can have ten thousand logs.
 *
 * @throws {@link NodeAnswerError} when such a field is malformed.
 */
export function parseRpcLog(answer: unknown, method: string): ReadLog {
  const log = Object(answer) as Record<string, unknown>
  const { address, topics, data, blockHash, transactionHash } = log
  if (
    !isHex(address, 42) ||
    !isHex(transactionHash, 66) ||
    typeof data !== 'string' ||
    !data.startsWith('0x') ||
    !(blockHash == null || isHex(blockHash, 66)) ||
    !isTopics(topics)
  )
    throw new NodeAnswerError({ method, problem: 'holds a malformed log' })
  const isNamed = namesBlock(blockHash)
  return {
    address: address.toLowerCase() as Address,
    topics,
    data: data as Hex,
    blockNumber: parseBlockNumber(log.blockNumber, method),
    blockHash: isNamed ? blockHash : undefined,
    blockTimestamp:
      log.blockTimestamp == null
        ? undefined
        : parseTimestamp(log.blockTimestamp, method),
    transactionHash: transactionHash as Hash,
    transactionIndex: integer(log.transactionIndex, method),
    logIndex:
      !isNamed && log.logIndex == null
        ? undefined
        : integer(log.logIndex, method),
    removed: log.removed === true,
    preconfirmed: !isNamed,
  }
}

/**
 * Parses the logs of an answer. Leaves out logs that a reorganization removed.
 * Throws if a log does not match the filter, or if two logs of one height are of
 * different blocks.
 */
export function parseLogs(
  wire: WireFilter,
  result: unknown,
  method: string,
): readonly ReadLog[] {
  const logs = parseList(result, method)
    .map((log) => parseRpcLog(log, method))
    .filter(({ removed }) => !removed)
  const hashes = new Map<bigint, Hash>()
  for (const { blockNumber, blockHash } of logs) {
    if (!blockHash) continue
    const other = hashes.get(blockNumber)
    if (!other) hashes.set(blockNumber, blockHash)
    else if (!same(other, blockHash))
      throw new NodeAnswerError({
        method,
        problem: `has logs of two blocks with the number ${blockNumber}`,
      })
  }
  if (!logs.every(logMatcher(wire)))
    throw new NodeAnswerError({
      method,
      problem: 'has a log that does not match the filter',
    })
  return logs
}

function isTopics(topics: unknown): topics is Hex[] {
  if (!Array.isArray(topics) || topics.length > 4) return false
  for (const topic of topics) if (!isHex(topic, 66)) return false
  return true
}

function isHex(value: unknown, length: number): value is string {
  return (
    typeof value === 'string' &&
    value.length === length &&
    value.charCodeAt(1) === 120 &&
    value.charCodeAt(0) === 48
  )
}

/**
 * Returns a parser that caches its last input and result, because neighboring
 * logs often have the same block number.
 */
function remembering(): (value: unknown, method: string) => bigint {
  let text: unknown = '0x0'
  let number = 0n
  return (value, method) => {
    if (value !== text) {
      number = BigInt(integer(value, method))
      text = value
    }
    return number
  }
}

const parseBlockNumber = /* @__PURE__ */ remembering()
const parseTimestamp = /* @__PURE__ */ remembering()

/**
 * Parses a quantity that fits a safe integer. Some nodes write a timestamp as a
 * JSON number.
 */
function integer(value: unknown, method: string): number {
  const hex = typeof value === 'string' && value.startsWith('0x')
  const number = hex || typeof value === 'number' ? Number(value) : -1
  if (!Number.isSafeInteger(number) || number < 0)
    throw new NodeAnswerError({ method, problem: 'holds a malformed quantity' })
  return number
}
