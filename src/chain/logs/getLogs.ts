import type { BlockTag, Client } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { endOnAbort } from '../../core/onAbort.js'
import { parseFrom } from '../rpc/endpointHost.js'
import { NodeAnswerError, NodeError } from '../rpc/errors.js'
import {
  getBlockHead,
  requestNode,
  requestQuantity,
} from '../rpc/requestNode.js'
import {
  encodeLogFilter,
  parseBlockSelector,
  type WireFilter,
} from './encodeLogFilter.js'
import { getLogPieces } from './getLogPieces.js'
import { rangeLimit } from './getLogRange.js'
import { getPendingPart } from './getPendingPart.js'
import { parseLogs } from './parseRpcLog.js'
import { sortLogs } from './sortLogs.js'
import { standsInBlock } from './standsInBlock.js'
import type { LogFilter, ReadLog } from './types.js'

/** How much of a range {@link getLogs} has read. */
export type LogProgress = {
  /** Number of blocks read so far. */
  done: bigint
  /** Number of blocks in the whole range. */
  total: bigint
  /** Number of logs found so far. */
  logs: number
}

/** Filter and options of {@link getLogs}. */
export type GetLogsParameters = LogFilter & {
  /** Blocks in one request, both ends included. @default 2000n */
  maxBlockRange?: bigint | undefined
  /** Requests at the same time. @default 4 */
  concurrency?: number | undefined
  signal?: AbortSignal | undefined
  /** Called each time after a part of the range was read. */
  onProgress?: ((progress: LogProgress) => void) | undefined
}

/**
 * Reads the logs of a filter, sorted by block, transaction and log index,
 * without duplicates. Replaces tags such as `latest` by numbers at the start.
 * Splits wide ranges, and splits a refused range further. Remembers the
 * provider's limit. If a block has more logs than the provider returns, reads
 * them from the receipts.
 *
 * `toBlock: 'pending'` adds the logs of pre-confirmed transactions, if the
 * network has them. With both ends `pending` you get only these logs.
 *
 * @throws {@link InvalidFieldError} before anything is sent, when the filter is
 * empty or malformed.
 * @throws {@link LogRangeError} when the node refuses even one block, and its
 * receipts.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const logs = await client.getLogs({
 *   address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   fromBlock: 0n,
 * })
 * ```
 */
export async function getLogs(
  client: Client,
  parameters: GetLogsParameters,
): Promise<ReadLog[]> {
  checkMembers(parameters, [
    'address',
    'topics',
    'blockHash',
    'fromBlock',
    'toBlock',
    'maxBlockRange',
    'concurrency',
    'signal',
    'onProgress',
  ])
  const given: GetLogsParameters = Object(parameters)
  const { maxBlockRange = 2000n, concurrency = 4 } = given
  const { signal, onProgress, ...criteria } = given
  const filter = pickFilter(criteria)
  const wire = encodeLogFilter(filter)
  rangeLimit(client, maxBlockRange)
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw new InvalidFieldError(
      'concurrency',
      shown(concurrency),
      'a positive integer',
    )
  signal?.throwIfAborted()
  const options = { maxBlockRange, concurrency, signal, onProgress }
  return endOnAbort(getFiltered(client, wire, filter, options), signal)
}

type LogReading = Parameters<typeof getLogPieces>[3]

async function getFiltered(
  client: Client,
  wire: WireFilter,
  filter: LogFilter,
  options: LogReading,
): Promise<ReadLog[]> {
  const { signal } = options
  if (filter.blockHash !== undefined) {
    const blockHash = parseBytes32(filter.blockHash, 'blockHash')
    const ask = () => getLogPlace(client, wire, { blockHash }, signal)
    const logs = await ask().catch(againIfOdd(ask))
    return finish(logs, options)
  }
  const from = parseBlockSelector(filter.fromBlock ?? 'latest', 'fromBlock')
  const to = parseBlockSelector(filter.toBlock ?? 'latest', 'toBlock')
  if (to === 'pending') return getUpToPending(client, wire, from, options)
  const newest =
    from === 'latest' &&
    to === 'latest' &&
    (await getNewest(client, wire, signal))
  if (newest) return finish(newest, options)

  const range = await pinRange(client, from, to, signal)
  if (range.last < range.first) return []
  return getLogPieces(client, wire, range, options)
}

/**
 * Reads blocks by number and pre-confirmed logs in two requests, because some
 * nodes return no logs at all for a range up to `pending`.
 */
async function getUpToPending(
  client: Client,
  wire: WireFilter,
  from: bigint | BlockTag,
  options: LogReading,
): Promise<ReadLog[]> {
  const { signal } = options
  const { logs, head } = await getPending(client, wire, signal)
  if (from === 'pending') return finish(logs, options)
  const first = await pinBlock(client, from, { head, signal })
  const ahead = logs.filter(
    ({ blockNumber }) => blockNumber > head && blockNumber >= first,
  )
  if (first > head) return finish(ahead, options)
  const range = { first, last: head }
  return sortLogs([
    ...(await getLogPieces(client, wire, range, options)),
    ...ahead,
  ])
}

function finish(
  found: readonly ReadLog[],
  { signal, onProgress }: LogReading,
): ReadLog[] {
  signal?.throwIfAborted()
  const logs = sortLogs(found)
  onProgress?.({ done: 1n, total: 1n, logs: logs.length })
  return logs
}

/**
 * Reads the logs of the newest block in one request. Returns `undefined` if the
 * node refuses or its answer is odd: the caller then asks by block number.
 */
async function getNewest(
  client: Client,
  wire: WireFilter,
  signal: AbortSignal | undefined,
): Promise<readonly ReadLog[] | undefined> {
  const place = { fromBlock: 'latest', toBlock: 'latest' }
  try {
    return await getLogPlace(client, wire, place, signal)
  } catch (error) {
    const isRefused =
      error instanceof NodeError && error.details.code !== undefined
    if (isRefused || error instanceof NodeAnswerError) return undefined
    throw error
  }
}

/**
 * Reads the logs of transactions that are pre-confirmed now. Drops logs whose
 * block was completed meanwhile, because the pending block of a node can be
 * behind the chain.
 */
export async function getPendingLogs(
  client: Client,
  wire: WireFilter,
  signal: AbortSignal | undefined,
): Promise<ReadLog[]> {
  return sortLogs((await getPending(client, wire, signal)).logs)
}

/**
 * Gets the logs of the pending block. Marks logs above the newest block as
 * pre-confirmed by their number: ordinary nodes invent a block hash for them.
 */
async function getPending(
  client: Client,
  wire: WireFilter,
  signal: AbortSignal | undefined,
): Promise<{ logs: readonly ReadLog[]; head: bigint }> {
  const read = (result: unknown) =>
    parseFrom(client, () => parseLogs(wire, result, method))
  const ask = () => getPendingPart(client, wire, { read, signal })
  const { logs, head } = await ask().catch(againIfOdd(ask))
  return {
    head,
    logs: logs.flatMap((log) => {
      if (standsInBlock(log, { number: head })) return log
      const early = { ...log, blockHash: undefined, preconfirmed: true }
      return log.blockNumber > head ? early : []
    }),
  }
}

/** Asks once more after an answer that is malformed or contradicts itself. */
function againIfOdd<answer>(
  ask: () => Promise<answer>,
): (error: unknown) => Promise<answer> {
  return async (error) => {
    if (error instanceof NodeAnswerError) return ask()
    throw error
  }
}

function pickFilter(filter: LogFilter): LogFilter {
  const { address, topics, blockHash, fromBlock, toBlock } = filter
  return { address, topics, blockHash, fromBlock, toBlock }
}

/**
 * Replaces the tags of a range by block numbers. Asks for the newest block
 * once, so that both ends of the range use the same one.
 */
export async function pinRange(
  client: Client,
  from: bigint | BlockTag,
  to: bigint | BlockTag,
  signal: AbortSignal | undefined,
): Promise<{ first: bigint; last: bigint }> {
  const heads = [from, to].some((end) => end === 'latest' || end === 'pending')
  const head = heads
    ? await requestQuantity(client, 'eth_blockNumber', [], { signal })
    : 0n
  const at = { head, signal }
  const [first, last] = await Promise.all([
    pinBlock(client, from, at),
    pinBlock(client, to, at),
  ])
  if (typeof from === 'bigint' && typeof to === 'bigint' && from > to)
    throw new InvalidFieldError(
      'toBlock',
      shown(to),
      `at least fromBlock, which is ${from}`,
    )
  return { first, last }
}

async function pinBlock(
  client: Client,
  end: bigint | BlockTag,
  { head, signal }: { head: bigint; signal: AbortSignal | undefined },
): Promise<bigint> {
  if (typeof end === 'bigint') return end
  if (end === 'earliest') return 0n
  if (end === 'latest' || end === 'pending') return head
  const block = await getBlockHead(client, end, { signal })
  if (block) return block.number
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `has no ${end} block`,
  })
}

type LogPlace = { blockHash: string } | { fromBlock: string; toBlock: string }

const method = 'eth_getLogs'

async function getLogPlace(
  client: Client,
  wire: WireFilter,
  place: LogPlace,
  signal: AbortSignal | undefined,
): Promise<readonly ReadLog[]> {
  const filter = { ...wire, ...place }
  const result = await requestNode(client, method, [filter], { signal })
  return parseFrom(client, () => {
    const logs = parseLogs(wire, result, method)
    if ('blockHash' in place)
      for (const { blockHash } of logs)
        if (blockHash?.toLowerCase() !== place.blockHash)
          throw new NodeAnswerError({
            method,
            problem: 'has a log of another block',
          })
    return logs
  })
}
