import type { Client } from 'viem'
import { wait } from '../../core/wait.js'
import { LogRangeError, NodeAnswerError } from '../rpc/errors.js'
import { classifyLogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'
import {
  type BlockRange,
  getLogRange,
  type RangeAnswer,
  rangeLimit,
} from './getLogRange.js'
import { getReceiptLogs } from './getReceiptLogs.js'
import { parseLogs } from './parseRpcLog.js'
import { sortLogs } from './sortLogs.js'
import type { ReadLog } from './types.js'

/**
 * Most requests for the same blocks, by what goes wrong: a temporary fault, or
 * an answer that is not a list of logs.
 */
const attempts = { fault: 6, answer: 4 }

/**
 * Reads a range of blocks in pieces, several at once. If the node refuses a
 * piece, asks for fewer blocks until it answers. Refused pieces are read one
 * after the other, so that each starts with the size that worked for the last.
 */
export async function getLogPieces(
  client: Client,
  wire: WireFilter,
  range: BlockRange,
  options: {
    maxBlockRange: bigint
    concurrency: number
    signal: AbortSignal | undefined
    onProgress:
      | ((progress: { done: bigint; total: bigint; logs: number }) => void)
      | undefined
  },
): Promise<ReadLog[]> {
  const { maxBlockRange, signal, onProgress } = options
  const total = range.last - range.first + 1n
  const found: ReadLog[][] = []
  /**
   * Blocks that were cut off from pieces that were too wide, and remain to be
   * read.
   */
  const rests: (BlockRange & { width: bigint })[] = []
  let next = range.first
  let width = maxBlockRange
  let failed = false
  let done = 0n
  let logs = 0
  let turn: Promise<unknown> = Promise.resolve()

  const take = (): BlockRange | undefined => {
    if (failed) return undefined
    const rest = rests.pop()
    const from = rest ?? { first: next, last: range.last, width }
    if (from.first > from.last) return undefined
    const last = from.first + rangeLimit(client, from.width) - 1n
    const piece = {
      first: from.first,
      last: last < from.last ? last : from.last,
    }
    if (!rest) next = piece.last + 1n
    else if (piece.last < rest.last)
      rests.push({ ...rest, first: piece.last + 1n })
    return piece
  }
  const inTurn = (read: (width: bigint) => Promise<LogPiece>) => {
    const mine = turn.then(() => {
      if (failed) throw new Error('Another piece failed.')
      return read(width)
    })
    turn = mine.catch(() => {
      failed = true
    })
    return mine
  }
  const work = async (): Promise<void> => {
    for (let piece = take(); piece; piece = take()) {
      const { first, last } = piece
      const answer = await getLogPiece(client, wire, piece, { signal, inTurn })
      const size = answer.last - first + 1n
      if (answer.last < last) {
        width = size
        rests.push({ first: answer.last + 1n, last, width })
      } else if (size >= width && width < maxBlockRange) width *= 2n
      found.push([...answer.logs])
      done += size
      logs += answer.logs.length
      onProgress?.({ done, total, logs })
    }
  }
  const stop = (error: unknown) => {
    failed = true
    throw error
  }
  const workers = Array.from({ length: options.concurrency }, () =>
    work().catch(stop),
  )
  await Promise.all(workers)
  return sortLogs(found.flat())
}

/** The logs of the first blocks of a piece, up to `last`. */
export type LogPiece = { logs: readonly ReadLog[]; last: bigint }

type ReadingOptions = {
  signal: AbortSignal | undefined
  /**
   * Called when the first request for a piece failed. Calls `read` when it is
   * this piece's turn to ask again, with the most blocks to ask for.
   */
  inTurn: (read: (width: bigint) => Promise<LogPiece>) => Promise<LogPiece>
}

/**
 * Reads the logs of a piece, or of as many of its first blocks as the node
 * answers.
 *
 * @throws {@link LogRangeError} when the node refuses even the first block.
 * @throws {@link NodeError} {@link NodeAnswerError} when it keeps failing.
 */
export async function getLogPiece(
  client: Client,
  wire: WireFilter,
  piece: BlockRange,
  { signal, inTurn }: ReadingOptions,
): Promise<LogPiece> {
  const { first } = piece
  const read = async (
    last: bigint,
  ): Promise<RangeAnswer<readonly ReadLog[]>> => {
    signal?.throwIfAborted()
    const asked = { first, last }
    const reading = {
      signal,
      classify: classifyLogFailure,
      read: (result: unknown) => parseLogsOf(wire, result, asked),
    }
    try {
      return await getLogRange(client, wire, asked, reading)
    } catch (error) {
      if (!(error instanceof LogRangeError)) throw error
      const { kind } = error.details
      if (kind === 'pruned') throw error
      return getReceiptLogs(client, wire, first, {
        ...reading,
        isMany: kind === 'tooManyResults',
        refusal: error,
      })
    } finally {
      signal?.throwIfAborted()
    }
  }
  const fromReceipts = (refusal: Error) =>
    getReceiptLogs(client, wire, first, {
      signal,
      read: (result) => parseLogsOf(wire, result, { first, last: first }),
      isMany: false,
      refusal,
    })
  const answer = await read(piece.last)
  if ('logs' in answer) return { logs: answer.logs, last: piece.last }
  return inTurn((width) => {
    const last = first + width - 1n
    const isKnown = last < piece.last
    return persist(
      { ...piece, last: isKnown ? last : piece.last },
      {
        read,
        fromReceipts,
        signal,
        answer: isKnown ? undefined : answer,
      },
    )
  })
}

/**
 * Repeats the request for a piece: for the same blocks after a temporary fault,
 * for fewer blocks if the range may be too wide.
 */
async function persist(
  { first, last }: BlockRange,
  {
    read,
    fromReceipts,
    signal,
    answer: given,
  }: {
    read: (last: bigint) => Promise<RangeAnswer<readonly ReadLog[]>>
    fromReceipts: (refusal: Error) => Promise<RangeAnswer<readonly ReadLog[]>>
    signal: AbortSignal | undefined
    answer: RangeAnswer<readonly ReadLog[]> | undefined
  },
): Promise<LogPiece> {
  let answer = given ?? (await read(last))
  let isWide = false
  for (let attempt = 1; ; attempt++) {
    if ('logs' in answer) return { logs: answer.logs, last }
    const { again, narrower, isMalformed } = answer
    // Some providers report an internal error or an outage when the range is
    // too wide. If the same node answers for a single block, the range was too
    // wide.
    if (again && narrower && attempt % 2 === 0)
      isWide ||= 'logs' in (await read(first))
    if (narrower && (!again || isWide)) {
      last = first + narrower - 1n
      attempt = 0
    } else if (again) {
      const most = isMalformed && !narrower ? attempts.answer : attempts.fault
      if (attempt >= most && first < last) throw again
      if (attempt >= most) {
        // The block may have too many logs for one answer, so read its
        // receipts.
        const found = await fromReceipts(again)
        if (!('logs' in found)) throw again
        return { logs: found.logs, last }
      }
      await wait(50 * 2 ** attempt, signal)
    }
    answer = await read(last)
  }
}

/**
 * Parses the logs of a range. Throws for a log outside the range: the answer
 * belongs to another request.
 */
function parseLogsOf(
  wire: WireFilter,
  result: unknown,
  { first, last }: BlockRange,
): readonly ReadLog[] {
  const logs = parseLogs(wire, result, 'eth_getLogs')
  const isStray = ({ blockNumber }: ReadLog) =>
    blockNumber < first || blockNumber > last
  if (logs.some(isStray))
    throw new NodeAnswerError({
      method: 'eth_getLogs',
      problem: 'holds a log from outside the requested blocks',
    })
  return logs
}
