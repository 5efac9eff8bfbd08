import type { Client } from 'viem'
import { InvalidFieldError } from '../base/errors.js'
import { classifyLogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'
import { readFrom } from './endpointHost.js'
import { LogRangeError, NodeAnswerError, NodeError } from './errors.js'
import type { ReadLog } from './logTypes.js'
import { readRpcLog } from './readRpcLog.js'
import { encodeBlock, tryRequest } from './requestNode.js'

/** A range of blocks, both ends included. */
export type BlockRange = { first: bigint; last: bigint }

/** Where in the chain to look: a sealed range, one block, or pre-confirmed. */
export type LogPlace =
  | { blockHash: string }
  | { fromBlock: string; toBlock: string }

const method = 'eth_getLogs'

/** What an endpoint has shown to allow, remembered per transport. */
const learnedLimits = /* @__PURE__ */ new WeakMap<object, bigint>()

/**
 * The widest range worth asking this endpoint for.
 *
 * @throws {@link InvalidFieldError} when `maxBlockRange` is no number of blocks.
 */
export function rangeLimit(client: Client, maxBlockRange: bigint): bigint {
  if (typeof maxBlockRange !== 'bigint' || maxBlockRange < 1n)
    throw new InvalidFieldError('maxBlockRange', maxBlockRange, 'at least 1n')
  const learned = learnedLimits.get(client.transport) ?? maxBlockRange
  return learned < maxBlockRange ? learned : maxBlockRange
}

export type RangeAnswer =
  | { logs: readonly ReadLog[] }
  /** Refused: ask for these narrower ranges instead. */
  | { narrower: readonly BlockRange[] }
  /** Not now: the same may be asked again, or else narrower ranges. */
  | { again: NodeError | NodeAnswerError; orElse: readonly BlockRange[] }

/**
 * Asks for the logs of a range once and says how to go on when the node
 * refuses. What is split is strictly narrower, so that splitting ends.
 *
 * @throws {@link LogRangeError} when a single block is refused.
 * @throws {@link NodeError} when narrowing cannot help.
 */
export async function readLogRange(
  client: Client,
  wire: WireFilter,
  range: BlockRange,
  toBlock: string = encodeBlock(range.last),
): Promise<RangeAnswer> {
  const fromBlock = encodeBlock(range.first)
  const filter = { ...wire, fromBlock, toBlock }
  const { result, failure } = await tryRequest(client, method, [filter])
  const size = range.last - range.first + 1n
  const halves = size > 1n ? splitRange(range, (size + 1n) / 2n) : []
  if (!failure)
    try {
      const last = toBlock === 'pending' ? undefined : range.last
      return { logs: readLogsOf(result, { first: range.first, last }) }
    } catch (error) {
      // A body cut short reads like this; another try or a smaller one helps.
      if (!(error instanceof NodeAnswerError)) throw error
      return { again: error, orElse: halves }
    }

  const error = new NodeError({ method, failure })
  const { kind, limit, suggested } = classifyLogFailure(failure)
  if (kind === 'unsupported') throw error
  if (kind === 'rateLimit' || kind === 'headBehind')
    return { again: error, orElse: [] }
  if (kind === 'fault' && error.retryable)
    return { again: error, orElse: halves }
  if (size === 1n && kind === 'timeout' && error.retryable)
    return { again: error, orElse: [] }
  if (size === 1n)
    throw new LogRangeError({ block: range.first, kind, words: failure.words })

  const stated = suggested ? suggested.last - suggested.first + 1n : limit
  const next =
    stated !== undefined && stated > 0n && stated < size
      ? stated
      : (size + 1n) / 2n
  if (kind === 'rangeTooWide') learnedLimits.set(client.transport, next)
  return { narrower: splitRange(range, next) }
}

/**
 * The logs of a range. A sealed one from elsewhere is the answer to another
 * question; a pre-confirmed one from below is a snapshot that is stuck.
 */
function readLogsOf(
  result: unknown,
  { first, last }: { first: bigint; last: bigint | undefined },
): readonly ReadLog[] {
  const isBelow = ({ blockNumber }: ReadLog) => blockNumber < first
  const logs = readLogs(result)
  const stray = logs.some(
    (log) =>
      (isBelow(log) && !log.preconfirmed) ||
      (last !== undefined && log.blockNumber > last),
  )
  if (stray)
    throw new NodeAnswerError({
      method,
      problem: 'holds a log of other blocks',
    })
  return logs.some(isBelow) ? logs.filter((log) => !isBelow(log)) : logs
}

/** The logs of one place that is not split. */
export async function readLogPlace(
  client: Client,
  wire: WireFilter,
  place: LogPlace,
): Promise<readonly ReadLog[]> {
  const filter = { ...wire, ...place }
  const { result, failure } = await tryRequest(client, method, [filter])
  if (failure) throw new NodeError({ method, failure })
  return readFrom(client, () => readLogs(result))
}

function readLogs(result: unknown): readonly ReadLog[] {
  if (!Array.isArray(result))
    throw new NodeAnswerError({ method, problem: 'is not a list' })
  return result.map(readRpcLog)
}

/** Cuts a range into pieces of at most `size` blocks. */
function splitRange(range: BlockRange, size: bigint): BlockRange[] {
  const pieces: BlockRange[] = []
  for (let first = range.first; first <= range.last; first += size) {
    const last = first + size - 1n
    pieces.push({ first, last: last < range.last ? last : range.last })
  }
  return pieces
}
