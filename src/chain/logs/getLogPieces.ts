import type { Client } from 'viem'
import { wait } from '../../core/wait.js'
import { LogRangeError, NodeAnswerError } from '../rpc/errors.js'
import { classifyLogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'
import { type BlockRange, getLogRange, rangeLimit } from './getLogRange.js'
import { getReceiptLogs } from './getReceiptLogs.js'
import { parseLogs } from './parseRpcLog.js'
import { sortLogs } from './sortLogs.js'
import type { ReadLog } from './types.js'

/** Most attempts for a range after temporary faults. */
const attempts = 6

/** Attempts for a whole range before narrower ranges are tried. */
const attemptsWhole = 2

/**
 * Reads a range in pieces, several at once. Narrows a piece until the node
 * answers it.
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
    /** True when the newest piece includes the pre-confirmed block. */
    toPending: boolean
  },
): Promise<ReadLog[]> {
  const { maxBlockRange, signal, onProgress, toPending } = options
  const total = range.last - range.first + 1n
  const found: ReadLog[][] = []
  const refused: BlockRange[] = []
  let next = range.first
  let failed = false
  let done = 0n
  let logs = 0

  const take = (): BlockRange | undefined => {
    const narrow = refused.pop()
    if (failed) return undefined
    if (narrow || next > range.last) return narrow
    const end = next + rangeLimit(client, maxBlockRange) - 1n
    const piece = { first: next, last: end < range.last ? end : range.last }
    next = piece.last + 1n
    return piece
  }
  const work = async (): Promise<void> => {
    for (let piece = take(); piece; piece = take()) {
      const toBlock =
        toPending && piece.last === range.last ? 'pending' : undefined
      const answer = await getLogPiece(client, wire, piece, {
        toBlock,
        signal,
      })
      if ('narrower' in answer) {
        // Pushed one by one: a call cannot take this many arguments.
        for (const part of splitRange(piece, answer.narrower).reverse())
          refused.push(part)
        continue
      }
      found.push([...answer.logs])
      done += piece.last - piece.first + 1n
      logs += answer.logs.length
      onProgress?.({ done, total, logs })
    }
  }
  const workers = options.concurrency
  const stop = (error: unknown) => {
    failed = true
    throw error
  }
  await Promise.all(Array.from({ length: workers }, () => work().catch(stop)))
  return sortLogs(found.flat())
}

/**
 * Reads one piece. Retries temporary faults after growing pauses. Returns
 * `narrower`, a number of blocks, if the piece is too wide for the node.
 */
export async function getLogPiece(
  client: Client,
  wire: WireFilter,
  piece: BlockRange,
  {
    toBlock,
    signal,
  }: { toBlock: string | undefined; signal: AbortSignal | undefined },
): Promise<{ logs: readonly ReadLog[] } | { narrower: bigint }> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const reading = {
      signal,
      toBlock,
      classify: classifyLogFailure,
      read: (result: unknown) =>
        parseLogsOf(wire, result, toBlock ? { first: piece.first } : piece),
    }
    const fromReceipts = (refusal: Error, isMany: boolean) =>
      getReceiptLogs(client, wire, piece.first, {
        read: reading.read,
        signal,
        isMany,
        refusal,
      })
    const answer = await getLogRange(client, wire, piece, reading).catch(
      (error: unknown) => {
        // A block given by tag may be unsealed: it has no receipts by number.
        if (!(error instanceof LogRangeError) || toBlock) throw error
        return fromReceipts(error, error.details.kind === 'tooManyResults')
      },
    )
    signal?.throwIfAborted()
    if ('logs' in answer || !answer.again) return answer
    const { again, narrower } = answer
    // Some providers report a range that is too wide as an internal error.
    if (narrower && attempt >= attemptsWhole) return { narrower }
    if (attempt >= (again instanceof NodeAnswerError ? 4 : attempts)) {
      if (toBlock || piece.first < piece.last) throw again
      // The block may have too many logs to arrive in time or complete.
      const answer = await fromReceipts(again, false)
      signal?.throwIfAborted()
      if (!('logs' in answer)) throw again
      return answer
    }
    await wait(50 * 2 ** attempt, signal)
  }
}

/**
 * Parses the logs of a range. Throws for a sealed log outside the range: the
 * answer belongs to another request. Drops a pre-confirmed log below the range:
 * it comes from an outdated snapshot.
 */
function parseLogsOf(
  wire: WireFilter,
  result: unknown,
  { first, last }: { first: bigint; last?: bigint },
): readonly ReadLog[] {
  const logs = parseLogs(wire, result, 'eth_getLogs').filter(
    ({ preconfirmed, blockNumber }) => !preconfirmed || blockNumber >= first,
  )
  const isStray = ({ blockNumber }: ReadLog) =>
    blockNumber < first || (last !== undefined && blockNumber > last)
  if (logs.some(isStray))
    throw new NodeAnswerError({
      method: 'eth_getLogs',
      problem: 'holds a log of other blocks',
    })
  return logs
}

function splitRange(range: BlockRange, size: bigint): BlockRange[] {
  const pieces: BlockRange[] = []
  for (let first = range.first; first <= range.last; first += size) {
    const last = first + size - 1n
    pieces.push({ first, last: last < range.last ? last : range.last })
  }
  return pieces
}
