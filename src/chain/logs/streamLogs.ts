import type { Client } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { endOnAbort } from '../../core/onAbort.js'
import { encodeLogFilter, parseBlockSelector } from './encodeLogFilter.js'
import { getLogPiece } from './getLogPieces.js'
import { type BlockRange, rangeLimit } from './getLogRange.js'
import { pinRange } from './getLogs.js'
import { type ReadAhead, readAhead } from './readAhead.js'
import { sortLogs } from './sortLogs.js'
import type { LogFilter, ReadLog } from './types.js'

/** The logs of consecutive whole blocks. */
export type LogChunk = {
  /** Sorted by block, transaction and log index. */
  logs: readonly ReadLog[]
  fromBlock: bigint
  toBlock: bigint
  /**
   * Pass it as `fromBlock` to resume after this chunk. After the last chunk,
   * you then get no logs.
   */
  cursor: bigint
}

/** Filter and options of {@link streamLogs}. */
export type StreamLogsParameters = Omit<LogFilter, 'blockHash'> & {
  /** Blocks in one request, both ends included. @default 2000n */
  maxBlockRange?: bigint | undefined
  /**
   * Number of chunks to read before you ask for them; they stay in memory until
   * you take them. 0 reads each chunk only when you ask.
   * @default 3
   */
  prefetch?: number | undefined
  signal?: AbortSignal | undefined
}

/**
 * Intended number of logs in a chunk. More would use more memory, fewer would
 * be slower.
 */
const chunkLogs = 2_500n

/**
 * Half the blocks of the first chunk. The number is small, because the number
 * of logs in a block is not known yet.
 */
const firstBlocks = 64n

/**
 * Reads logs of any range as ordered chunks of whole blocks, about 2,500 logs
 * each, so that memory does not grow with the range. The next chunks are read
 * while you use one.
 *
 * A reorganization can undo the newest chunks.
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
  checkMembers(parameters, [
    'address',
    'topics',
    'fromBlock',
    'toBlock',
    'maxBlockRange',
    'prefetch',
    'signal',
  ])
  const given: StreamLogsParameters = Object(parameters)
  const { maxBlockRange = 2000n, prefetch = 3 } = given
  const { signal, address, topics } = given
  const { fromBlock = 'latest', toBlock = 'latest' } = given
  const wire = encodeLogFilter({ address, topics, fromBlock, toBlock })
  rangeLimit(client, maxBlockRange)
  if (!Number.isSafeInteger(prefetch) || prefetch < 0)
    throw new InvalidFieldError(
      'prefetch',
      shown(prefetch),
      'an integer from 0',
    )
  signal?.throwIfAborted()
  const from = parseBlockSelector(fromBlock, 'fromBlock')
  const to = parseBlockSelector(toBlock, 'toBlock')
  // The range begins where the last chunk ended, so there is nothing left to
  // read.
  if (typeof to === 'bigint' && from === to + 1n) return
  const { first, last } = await endOnAbort(
    pinRange(client, from, to, signal),
    signal,
  )
  const ahead = readAhead(
    (piece: BlockRange, signal) =>
      getLogPiece(client, wire, piece, {
        signal,
        inTurn: (read) => read(maxBlockRange),
      }),
    signal,
  )
  const limit = () => rangeLimit(client, maxBlockRange)
  try {
    yield* takeChunks(ahead, { first, last }, { prefetch, limit })
  } finally {
    ahead.close()
  }
}

type PieceAnswer = Awaited<ReturnType<typeof getLogPiece>>

/**
 * Reads a range in pieces. The number of logs in earlier pieces decides how
 * many blocks the next one has.
 */
async function* takeChunks(
  ahead: ReadAhead<BlockRange, PieceAnswer>,
  { first, last }: BlockRange,
  { prefetch, limit }: { prefetch: number; limit: () => bigint },
): AsyncGenerator<LogChunk, void, undefined> {
  let size = nextSize(firstBlocks, 0, limit())
  let next = first
  const fill = (count: number) => {
    while (next <= last && ahead.size < count) {
      const end = next + size - 1n
      const piece = { first: next, last: end < last ? end : last }
      next = piece.last + 1n
      ahead.start(piece)
    }
  }
  // Starts with one piece, because its answer shows how many logs a block has.
  fill(1)
  for (let taken = await ahead.take(); taken; taken = await ahead.take()) {
    const { piece, answer } = taken
    const { first: fromBlock } = piece
    const { last: toBlock } = answer
    const logs = sortLogs(answer.logs)
    size = nextSize(toBlock - fromBlock + 1n, logs.length, limit())
    if (toBlock < piece.last) {
      // The node refused the end of this range. Drops the ranges that were
      // requested ahead: they have the same size, so the node would refuse them
      // too.
      ahead.drop()
      next = toBlock + 1n
      size = toBlock - fromBlock + 1n
    }
    fill(prefetch)
    yield { logs, fromBlock, toBlock, cursor: toBlock + 1n }
    fill(prefetch + 1)
  }
}

/**
 * Estimates how many blocks have about 2,500 logs (`chunkLogs`). Returns at
 * most twice the current size.
 */
function nextSize(size: bigint, found: number, limit: bigint): bigint {
  const wanted = found === 0 ? size * 2n : (size * chunkLogs) / BigInt(found)
  const grown = wanted > size * 2n ? size * 2n : wanted
  if (grown > limit) return limit
  return grown > 0n ? grown : 1n
}
