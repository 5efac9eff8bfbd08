import type { Client } from 'viem'
import { soon, wait } from '../../core/wait.js'
import { askInChunks } from '../rpc/askInChunks.js'
import { LogRangeError, NodeAnswerError, NodeError } from '../rpc/errors.js'
import { encodeBlock } from '../rpc/requestNode.js'
import { classifyLogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'
import {
  askBlock,
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
 * Most times to read pieces again because a reorganization changed them
 * meanwhile.
 */
const mostRounds = 10

/**
 * Reads a range of blocks in pieces, several at once. If the node refuses a
 * piece, asks for fewer blocks until it answers. Refused pieces are read one
 * after the other, so that each starts with the size that worked for the last.
 *
 * With the last piece, asks again for the last blocks of the others. If a
 * reorganization has replaced one of them, reads that piece again: so all logs
 * are of one chain.
 *
 * @throws {@link NodeAnswerError} when the chain keeps changing.
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
  let found: FoundPiece[] = []
  /** Blocks that remain to be read; the next ones are at the end. */
  const rests: (BlockRange & { width?: bigint })[] = [range]
  let width = maxBlockRange
  let failed = false
  let done = 0n
  let logs = 0
  let turn: Promise<unknown> = Promise.resolve()
  const { isBatching = false } = Object(client.transport)
  /** Pieces that start in one turn of the event loop share a request. */
  let wave: object | undefined
  /** Answers about the last blocks of pieces that were read before the last. */
  let checks: Check = { pieces: new Set(), changed: Promise.resolve(new Set()) }

  const take = (): BlockRange | undefined => {
    const rest = rests.pop()
    if (failed || !rest) return undefined
    const end = rest.first + rangeLimit(client, rest.width ?? width) - 1n
    const last = end < rest.last ? end : rest.last
    if (last < rest.last) rests.push({ ...rest, first: last + 1n })
    else if (isBatching && rests.length === 0) checks = startCheck()
    return { first: rest.first, last }
  }
  const startCheck = (): Check => {
    const changed = findChanged(client, found, signal)
    // The result is awaited when all pieces have been read.
    changed.catch(() => undefined)
    return { pieces: new Set(found), changed, wave: thisWave() }
  }
  const thisWave = (): object => {
    if (!wave) soon(() => (wave = undefined))
    wave ??= {}
    return wave
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
  const readPiece = async (piece: BlockRange): Promise<void> => {
    const { first, last } = piece
    let started: object | undefined = thisWave()
    const answer = await getLogPiece(client, wire, piece, {
      signal,
      inTurn: (read) => {
        started = undefined
        return inTurn(read)
      },
    })
    const size = answer.last - first + 1n
    if (answer.last < last) {
      width = size
      rests.push({ first: answer.last + 1n, last, width })
    } else if (size >= width && width < maxBlockRange) width *= 2n
    found.push({ first, ...answer, wave: started })
    done += size
    logs += answer.logs.length
    onProgress?.({ done, total, logs })
  }
  const work = async (): Promise<void> => {
    for (let piece = take(); piece; piece = take()) await readPiece(piece)
  }
  const stop = (error: unknown) => {
    failed = true
    throw error
  }
  const getChanged = async (): Promise<readonly FoundPiece[]> => {
    if (found.length === 1) return []
    const isChecked = (piece: FoundPiece) =>
      isBatching &&
      (checks.pieces.has(piece) ||
        (piece.wave !== undefined && piece.wave === checks.wave))
    const unchecked = found.filter((piece) => !isChecked(piece))
    const [early, late] = await Promise.all([
      checks.changed,
      findChanged(client, unchecked, signal),
    ])
    return [...early, ...late]
  }
  for (let round = 0; rests.length > 0; round++) {
    if (round > mostRounds)
      throw new NodeAnswerError({
        method: 'eth_getLogs',
        problem: 'is outdated by a reorganization each time it is read',
      })
    const workers = Array.from({ length: options.concurrency }, () =>
      work().catch(stop),
    )
    await Promise.all(workers)
    const changed = new Set(await getChanged())
    found = found.filter((one) => !changed.has(one))
    for (const { first, last, logs: gone } of changed) {
      rests.push({ first, last, width: last - first + 1n })
      done -= last - first + 1n
      logs -= gone.length
    }
  }
  return sortLogs(found.flatMap((one) => one.logs))
}

type FoundPiece = BlockRange & LogPiece & { wave: object | undefined }

type Check = {
  pieces: ReadonlySet<FoundPiece>
  changed: Promise<ReadonlySet<FoundPiece>>
  /** The turn of the event loop in which it was sent. */
  wave?: object | undefined
}

/** Finds pieces whose last block is no longer in the chain. */
async function findChanged(
  client: Client,
  pieces: readonly FoundPiece[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<FoundPiece>> {
  const changed = await askInChunks([...pieces], async (piece) => {
    const hash = await getLastHash(client, piece.last, signal)
    return hash === piece.hash ? [] : [piece]
  })
  return new Set(changed.flat())
}

/** Gets the hash of a block, again and again after temporary faults. */
async function getLastHash(
  client: Client,
  block: bigint,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const asked = askBlock(client, encodeBlock(block), signal)
    const { result, failure } = await asked
    if (!failure) return Object(result).hash
    const error = new NodeError({ method: 'eth_getBlockByNumber', failure })
    if (!error.retryable || attempt >= attempts.fault) throw error
    await wait(50 * 2 ** attempt, signal)
  }
}

/** The logs of the first blocks of a piece, up to `last`. */
export type LogPiece = {
  logs: readonly ReadLog[]
  last: bigint
  /** Hash of the block `last`. */
  hash: unknown
}

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
  if ('logs' in answer) return { ...answer, last: piece.last }
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
    if ('logs' in answer) return { ...answer, last }
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
        return { ...found, last }
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
