import type { Client } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
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

/** What an endpoint has shown to allow, remembered per transport. */
const learnedLimits = /* @__PURE__ */ new WeakMap<object, bigint>()

/**
 * The widest range worth asking this endpoint for.
 *
 * @throws {@link InvalidFieldError} when `maxBlockRange` is no number of blocks.
 */
export function rangeLimit(client: Client, maxBlockRange: bigint): bigint {
  if (typeof maxBlockRange !== 'bigint' || maxBlockRange < 1n)
    throw new InvalidFieldError(
      'maxBlockRange',
      maxBlockRange,
      'a bigint of 1 or more',
    )
  const learned = learnedLimits.get(client.transport) ?? maxBlockRange
  return learned < maxBlockRange ? learned : maxBlockRange
}

export type RangeAnswer<logs> =
  | { logs: logs }
  /** Refused: ask for so many blocks at most instead. */
  | { narrower: bigint; again?: undefined }
  /** Not now: the same may be asked again, or else fewer blocks. */
  | { again: NodeError | NodeAnswerError; narrower?: bigint | undefined }

export type RangeReading<logs> = {
  signal?: AbortSignal | undefined
  /** The newest block as the wire wants it, where that is not its number. */
  toBlock?: string | undefined
  classify: (failure: NodeFailure) => LogFailure
  /** Reads the answer. */
  read: (result: unknown) => logs
}

/**
 * Asks for the logs of a range once and says how to go on when the node
 * refuses. Always with fewer blocks than before, so that narrowing ends.
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
      // A body cut short reads like this; another try or a smaller one helps.
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
  // No width is taken of a single block, which says nothing about others.
  if (kind === 'rangeTooWide')
    learnedLimits.set(client.transport, narrower ?? 2n ** 64n)
  if (narrower) return { narrower }
  throw new LogRangeError({ block: first, kind, words: failure.words })
}
