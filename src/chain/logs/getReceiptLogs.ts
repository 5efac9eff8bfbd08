import type { Client, Hex } from 'viem'
import { zeroHash } from '../../core/receiptProof.js'
import { askInChunks } from '../rpc/askInChunks.js'
import { isTemporary } from '../rpc/classifyFailure.js'
import { NodeAnswerError, NodeError } from '../rpc/errors.js'
import {
  encodeBlock,
  parseBytes,
  parseList,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'
import { logMatcher, type WireFilter } from './encodeLogFilter.js'
import type { RangeAnswer, RangeReading } from './getLogRange.js'

/**
 * Reads the logs of a block from its receipts, after the node refused to return
 * the logs.
 *
 * @throws `refusal` when the node refuses the receipts too, or refuses every
 * request for logs of the block.
 */
export async function getReceiptLogs<logs>(
  client: Client,
  wire: WireFilter,
  block: bigint,
  {
    read,
    signal,
    isMany,
    refusal,
  }: Pick<RangeReading<logs>, 'read'> & {
    signal: AbortSignal | undefined
    /** True when the error text said that the block has too many logs. */
    isMany: boolean
    refusal: Error
  },
): Promise<RangeAnswer<logs>> {
  try {
    if (!isMany)
      await requireBlockLogs(client, wire, block, { refusal, signal })
    const { hash, logs } = await getBlockLogs(client, wire, block, signal)
    return { logs: read(logs), hash }
  } catch (error) {
    const isNodes =
      error instanceof NodeError || error instanceof NodeAnswerError
    if (!isNodes) throw error
    if (error.retryable) return { again: error }
    throw refusal
  }
}

const whole = 'eth_getBlockReceipts'
const single = 'eth_getTransactionReceipt'

/**
 * Reads the logs of a filter in one complete block from the receipts of its
 * transactions, because anyone can put more logs into a block than
 * `eth_getLogs` returns. Returns the logs unparsed.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answers are not of one whole block.
 */
async function getBlockLogs(
  client: Client,
  wire: WireFilter,
  block: bigint,
  signal: AbortSignal | undefined,
): Promise<{ hash: string; logs: readonly unknown[] }> {
  const ask: Ask = (method, params) =>
    requestNode(client, method, params, { signal })
  const { hash, transactions } = await getBlock(ask, block)
  const receipts =
    (await getAllReceipts(client, block, signal)) ??
    (await askInChunks(transactions, (transaction) =>
      ask(single, [transaction]),
    ))
  const byHash = new Map<string, readonly unknown[]>()
  for (const receipt of receipts) {
    const { transactionHash, blockHash, logs } = Object(receipt)
    if (lower(blockHash) !== lower(hash))
      throw refuse(whole, 'is for another block')
    const own = parseList(logs, whole)
    if (own.some((log) => lower(Object(log).blockHash) !== lower(hash)))
      throw refuse(whole, 'holds a log of another block')
    byHash.set(lower(transactionHash), own)
  }
  if (!transactions.every((transaction) => byHash.has(lower(transaction))))
    throw refuse(whole, 'lacks a transaction of the block')
  const isWanted = logMatcher(wire)
  const logs = [...byHash.values()].flat()
  return { hash, logs: logs.filter((log) => isWanted(parseKeys(log))) }
}

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

/**
 * Parses only the fields that the filter compares, to save time. The caller
 * parses the other fields of logs that match.
 */
function parseKeys(log: unknown): { address: Hex; topics: readonly Hex[] } {
  const { address, topics } = Object(log)
  return {
    address: parseBytes(lower(address), whole),
    topics: parseList(topics, whole).map((topic) => parseBytes(topic, whole)),
  }
}

/** A filter that no log matches, because no event has this first topic. */
const nothing = { topics: [zeroHash] }

/**
 * Checks why a node refused the logs of a block: asks again with a filter that
 * matches no log. If the node answers, there were too many logs.
 *
 * @throws `refusal` when the node refuses any request for the block.
 * @throws {@link NodeError} when it may answer later.
 */
export async function requireBlockLogs(
  client: Client,
  { address }: WireFilter,
  block: bigint,
  { refusal, signal }: { refusal: Error; signal?: AbortSignal | undefined },
): Promise<void> {
  const method = 'eth_getLogs'
  const number = encodeBlock(block)
  const range = { fromBlock: number, toBlock: number }
  const filter = { ...(address && { address }), ...nothing, ...range }
  const { result, failure } = await tryRequest(client, method, [filter], {
    signal,
  })
  if (failure && isTemporary(failure)) throw new NodeError({ method, failure })
  if (!Array.isArray(result)) throw refusal
}

async function getBlock(
  ask: Ask,
  block: bigint,
): Promise<{ hash: string; transactions: readonly string[] }> {
  const method = 'eth_getBlockByNumber'
  const answer = await ask(method, [encodeBlock(block), false])
  if (!answer) throw refuse(method, `has no block ${block}`)
  const { hash, transactions } = Object(answer)
  return {
    hash: parseBytes(hash, method),
    transactions: parseList(transactions, method).map((one) =>
      parseBytes(one, method),
    ),
  }
}

/**
 * Gets all receipts of a block in one request; `undefined` when the node
 * refuses or returns no list.
 */
async function getAllReceipts(
  client: Client,
  block: bigint,
  signal: AbortSignal | undefined,
): Promise<readonly unknown[] | undefined> {
  const params = [encodeBlock(block)]
  const options = { signal, retryCount: 0 }
  const { result } = await tryRequest(client, whole, params, options)
  return Array.isArray(result) ? result : undefined
}

const lower = (hash: unknown): string => String(hash).toLowerCase()

function refuse(method: string, problem: string): NodeAnswerError {
  return new NodeAnswerError({ method, problem })
}
