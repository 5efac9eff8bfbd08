import type { Client } from 'viem'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { soon } from '../../core/wait.js'
import { isTemporary } from '../rpc/classifyFailure.js'
import { LogRangeError, NodeAnswerError, NodeError } from '../rpc/errors.js'
import { encodeBlock, parseList, tryRequest } from '../rpc/requestNode.js'
import type { RpcOutcome } from '../rpc/rpcBatch.js'
import type { NodeFailure } from '../rpc/types.js'
import type { LogFailure } from './classifyLogFailure.js'
import type { WireFilter } from './encodeLogFilter.js'

/** A range of blocks, both ends included. */
export type BlockRange = { first: bigint; last: bigint }

const method = 'eth_getLogs'
const ofBlock = 'eth_getBlockByNumber'

/** The widest range that an endpoint is known to accept. */
type LearnedLimit = {
  blocks: bigint
  /** How many more answers of this width must succeed before it is doubled. */
  left: number
  /** The number of answers that `left` last started from. */
  patience: number
}

/** By transport: an endpoint has the same limit for all reads. */
const learnedLimits = /* @__PURE__ */ new WeakMap<object, LearnedLimit>()

/**
 * Successful answers before a limit is doubled: `guessed` if we found it by
 * trying, `stated` if the node named it. At most `most`.
 */
const patience = { guessed: 4, stated: 64, most: 1024 }

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
  const learned = learnedLimits.get(client.transport)?.blocks ?? maxBlockRange
  return learned < maxBlockRange ? learned : maxBlockRange
}

/**
 * After a refusal, remembers how many blocks to ask for at most. If the node
 * refused a limit that we had doubled, four times as many answers must succeed
 * before we double it again.
 */
function learnLimit(
  client: Client,
  blocks: bigint,
  { isStated }: { isStated: boolean },
): void {
  const known = learnedLimits.get(client.transport)
  const hasGrown = known && known.left <= 0
  const first = isStated ? patience.stated : patience.guessed
  const next = hasGrown
    ? Math.min(known.patience * 4, patience.most)
    : Math.max(known?.patience ?? 0, first)
  learnedLimits.set(client.transport, { blocks, left: next, patience: next })
}

/**
 * Counts an answer of full width, and doubles the limit after enough of them:
 * the node may have refused the wider range for a reason that is gone.
 */
function confirmLimit({ transport }: Client, blocks: bigint): void {
  const known = learnedLimits.get(transport)
  if (!known || blocks < known.blocks) return
  known.left--
  if (known.left <= 0) known.blocks *= 2n
}

export type RangeAnswer<logs> =
  | { logs: logs }
  /** Refused: ask for at most this many blocks. */
  | { narrower: bigint; again?: undefined; isMalformed?: undefined }
  /** Temporary fault: ask again, or for at most `narrower` blocks. */
  | {
      again: NodeError | NodeAnswerError
      narrower?: bigint | undefined
      isMalformed?: boolean
    }

export type RangeReading<logs> = {
  signal?: AbortSignal | undefined
  classify: (failure: NodeFailure) => LogFailure
  read: (result: readonly unknown[]) => logs
}

/**
 * Requests the logs of a range once. Also requests the last block of the range:
 * a replica that does not have it yet would leave out its logs without an
 * error. If the node refuses, returns whether to ask again, and for how many
 * blocks. That number is always smaller than the range, so narrowing ends.
 *
 * @throws {@link LogRangeError} when a single block is refused, or the range is
 * pruned.
 * @throws {@link NodeError} when narrowing cannot help.
 */
export async function getLogRange<logs>(
  client: Client,
  wire: WireFilter,
  range: BlockRange,
  { signal, classify, read }: RangeReading<logs>,
): Promise<RangeAnswer<logs>> {
  const { first, last } = range
  const toBlock = encodeBlock(last)
  const filter = { ...wire, fromBlock: encodeBlock(first), toBlock }
  const asked = askBlock(client, toBlock, signal)
  // Separate HTTP requests may run in any order. If the block arrived after the
  // logs were read, its logs would be missing: check the block first.
  const { type, isBatching }: { type?: string; isBatching?: boolean } = Object(
    client.transport,
  )
  const isApart = type === 'http' && !isBatching
  const early = isApart ? findLag(await asked, last) : undefined
  if (early) return { again: early }
  const { result, failure } = await tryRequest(client, method, [filter], {
    signal,
  })
  if (failure) return judgeFailure(client, range, { failure, classify })
  const behind = findLag(await asked, last)
  if (behind) return { again: behind }
  try {
    const logs = read(parseList(result, method))
    confirmLimit(client, last - first + 1n)
    return { logs }
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    // A truncated answer is malformed too: ask again, or for fewer blocks.
    const narrower = result === null ? undefined : halfOf(range)
    return { again: error, narrower, isMalformed: true }
  }
}

/** By transport: the requests for blocks in the current tick. */
const askedNow = /* @__PURE__ */ new WeakMap<
  object,
  Map<string, Promise<RpcOutcome>>
>()

/**
 * Requests a block once in each tick. Searches with other filters that run at
 * the same time often end at the same block.
 */
function askBlock(
  client: Client,
  block: string,
  signal: AbortSignal | undefined,
): Promise<RpcOutcome> {
  const now = askedNow.get(client.transport) ?? new Map()
  askedNow.set(client.transport, now)
  const asked =
    now.get(block) ?? tryRequest(client, ofBlock, [block, false], { signal })
  if (!now.has(block)) soon(() => now.delete(block))
  now.set(block, asked)
  return asked
}

const halfOf = ({ first, last }: BlockRange): bigint | undefined =>
  last > first ? (last - first + 2n) / 2n : undefined

/**
 * Returns an error if the node lacks the block or has a temporary fault.
 *
 * @throws {@link NodeError} when the node refuses to show the block.
 */
function findLag(
  { result, failure }: RpcOutcome,
  last: bigint,
): NodeError | NodeAnswerError | undefined {
  if (failure) {
    const error = new NodeError({ method: ofBlock, failure })
    if (error.retryable) return error
    throw error
  }
  if (result !== null) return undefined
  const problem = `has no block ${last}: the node may be a replica that is behind`
  return new NodeAnswerError({ method: ofBlock, problem })
}

function judgeFailure(
  client: Client,
  range: BlockRange,
  {
    failure,
    classify,
  }: { failure: NodeFailure; classify: RangeReading<unknown>['classify'] },
): Exclude<RangeAnswer<never>, { logs: never }> {
  const { first, last } = range
  const size = last - first + 1n
  const half = halfOf(range)
  const { kind, blocks = 0n } = classify(failure)
  const refused = () =>
    new LogRangeError({ block: first, kind, words: failure.words })
  const error = new NodeError({ method, failure })
  if (kind === 'pruned') throw refused()
  if (kind === 'unsupported') throw error
  if (kind === 'rateLimit' || kind === 'headBehind') return { again: error }
  if (isTemporary(failure) && (kind === 'fault' || !half))
    return { again: error, narrower: half }
  const isStated = blocks > 0n && blocks < size
  const narrower = isStated ? blocks : half
  if (kind === 'rangeTooWide') {
    // The refusal of a single block says nothing about the width of others.
    if (narrower) learnLimit(client, narrower, { isStated })
    else learnedLimits.delete(client.transport)
  }
  if (narrower) return { narrower }
  throw refused()
}
