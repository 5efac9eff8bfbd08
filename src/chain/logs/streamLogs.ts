import type { Client } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { endOnAbort } from '../../core/onAbort.js'
import { encodeLogFilter, parseBlockSelector } from './encodeLogFilter.js'
import { getLogPiece } from './getLogPieces.js'
import { rangeLimit } from './getLogRange.js'
import { pinRange } from './getLogs.js'
import { sortLogs } from './sortLogs.js'
import type { LogFilter, ReadLog } from './types.js'

/** The logs of a run of whole blocks. */
export type LogChunk = {
  /** Sorted by block, transaction and log index. */
  logs: readonly ReadLog[]
  fromBlock: bigint
  toBlock: bigint
  /**
   * Where to go on: pass it as `fromBlock` to resume after this chunk; after the
   * last one there is nothing.
   */
  cursor: bigint
}

/** What {@link streamLogs} takes. */
export type StreamLogsParameters = Omit<LogFilter, 'blockHash'> & {
  /** Blocks in one request, both ends included. @default 2000n */
  maxBlockRange?: bigint | undefined
  signal?: AbortSignal | undefined
}

const members: MembersOf<StreamLogsParameters> = {
  address: true,
  topics: true,
  fromBlock: true,
  toBlock: true,
  maxBlockRange: true,
  signal: true,
}

/** Logs a chunk aims at: few enough for a flat memory, many enough to be fast. */
const chunkLogs = 2_500n

/** Half the blocks of the first chunk; how dense they are is not known yet. */
const firstBlocks = 64n

/**
 * Reads logs of any range as ordered chunks of whole blocks, about 2,500 logs
 * each, so that memory does not grow with the range.
 *
 * The newest chunks can be taken back by a reorganization.
 *
 * @throws as {@link getLogs}.
 *
 * @example
 * ```ts
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'http://127.0.0.1:8545' })
 * const token = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
 * for await (const { logs, cursor } of client.streamLogs({
 *   address: token,
 *   fromBlock: 0n,
 * }))
 *   console.log(logs.length, 'logs, resume at', cursor)
 * ```
 */
export async function* streamLogs(
  client: Client,
  parameters: StreamLogsParameters,
): AsyncGenerator<LogChunk, void, undefined> {
  checkMembers(parameters, members)
  const given: StreamLogsParameters = Object(parameters)
  const { maxBlockRange = 2000n, signal, address, topics } = given
  const { fromBlock = 'latest', toBlock = 'latest' } = given
  const wire = encodeLogFilter({ address, topics, fromBlock, toBlock })
  rangeLimit(client, maxBlockRange)
  signal?.throwIfAborted()
  const from = parseBlockSelector(fromBlock, 'fromBlock')
  const to = parseBlockSelector(toBlock, 'toBlock')
  // Resumed where its last chunk ended.
  if (typeof to === 'bigint' && from === to + 1n) return
  const { first, last } = await endOnAbort(
    pinRange(client, from, to, signal),
    signal,
  )
  let size = nextSize(firstBlocks, 0, rangeLimit(client, maxBlockRange))
  for (let next = first; next <= last; ) {
    const end = next + size - 1n
    const piece = { first: next, last: end < last ? end : last }
    const options = { toBlock: undefined, signal }
    const reading = getLogPiece(client, wire, piece, options)
    const answer = await endOnAbort(reading, signal)
    if ('narrower' in answer) {
      size = answer.narrower
      continue
    }
    const cursor = piece.last + 1n
    const logs = sortLogs(answer.logs)
    size = nextSize(size, logs.length, rangeLimit(client, maxBlockRange))
    next = cursor
    yield { logs, fromBlock: piece.first, toBlock: piece.last, cursor }
  }
}

/** As many blocks as would have held the logs a chunk aims at, at most doubled. */
function nextSize(size: bigint, found: number, limit: bigint): bigint {
  const wanted = found === 0 ? size * 2n : (size * chunkLogs) / BigInt(found)
  const grown = wanted > size * 2n ? size * 2n : wanted
  if (grown > limit) return limit
  return grown > 0n ? grown : 1n
}
