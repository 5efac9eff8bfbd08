import type { Client } from 'viem'
import { InvalidFieldError, shown } from '../../core/errors.js'
import {
  LogRangeError,
  NodeAnswerError,
  NodeError,
  type NodeFailure,
} from '../rpc/errors.js'
import { encodeBlock, tryRequest } from '../rpc/requestNode.js'
import type { LogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'

/** A range of blocks, both ends included. */
export type BlockRange = { first: bigint; last: bigint }

const method = 'eth_getLogs'

/** By transport: the widest range that the endpoint is known to accept. */
const learnedLimits = /* @__PURE__ */ new WeakMap<object, bigint>()

/**
 * Returns the widest range that this endpoint is likely to answer.
 *
 * @throws {@link InvalidFieldError} when `maxBlockRange` is invalid.
 */
export function rangeLimit(client: Client, maxBlockRange: bigint): bigint {
  if (typeof maxBlockRange !== 'bigint' || maxBlockRange < 1n)
    throw new InvalidFieldError(
      'maxBlockRange',
      shown(maxBlockRange),
      'a bigint of 1 or more',
    )
  const learned = learnedLimits.get(client.transport) ?? maxBlockRange
  return learned < maxBlockRange ? learned : maxBlockRange
}

export type RangeAnswer<logs> =
  | { logs: logs }
  /** Refused: ask for at most this many blocks. */
  | { narrower: bigint; again?: undefined }
  /** Temporary fault: ask again, or ask for fewer blocks. */
  | { again: NodeError | NodeAnswerError; narrower?: bigint | undefined }

export type RangeReading<logs> = {
  signal?: AbortSignal | undefined
  /** Tag of the newest block, if it is not given by number. */
  toBlock?: string | undefined
  classify: (failure: NodeFailure) => LogFailure
  read: (result: unknown) => logs
}

/**
 * Requests the logs of a range once. If the node refuses, returns whether to
 * ask again, and for how many blocks. That number is always smaller than the
 * range, so narrowing ends.
 *
 * @throws {@link LogRangeError} when a single block is refused.
 * @throws {@link NodeError} when narrowing cannot help.
 */
export async function getLogRange<logs>(
  client: Client,
  wire: WireFilter,
  { first, last }: BlockRange,
  { toBlock = encodeBlock(last), signal, classify, read }: RangeReading<logs>,
): Promise<RangeAnswer<logs>> {
  const filter = { ...wire, fromBlock: encodeBlock(first), toBlock }
  const { result, failure } = await tryRequest(client, method, [filter], {
    signal,
  })
  const size = last - first + 1n
  const half = size > 1n ? (size + 1n) / 2n : undefined
  if (!failure)
    try {
      return { logs: read(result) }
    } catch (error) {
      // A truncated answer is malformed too: ask again, or for fewer blocks.
      if (!(error instanceof NodeAnswerError)) throw error
      return { again: error, narrower: half }
    }

  const error = new NodeError({ method, failure })
  const { kind, blocks } = classify(failure)
  if (kind === 'unsupported') throw error
  if (kind === 'rateLimit' || kind === 'headBehind') return { again: error }
  if (error.retryable && (kind === 'fault' || (kind === 'timeout' && !half)))
    return { again: error, narrower: half }
  const narrower = blocks && blocks > 0n && blocks < size ? blocks : half
  // A refused single block shows no limit for other ranges.
  if (kind === 'rangeTooWide')
    learnedLimits.set(client.transport, narrower ?? 2n ** 64n)
  if (narrower) return { narrower }
  throw new LogRangeError({ block: first, kind, words: failure.words })
}
