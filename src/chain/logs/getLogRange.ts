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

/** The widest range that a provider is known to accept. */
type LearnedLimit = {
  blocks: bigint
  /**
   * Number of full-width answers that must still succeed before the limit is
   * doubled.
   */
  left: number
  /**
   * The value from which `left` counted down. Grows when a doubled limit fails.
   */
  patience: number
}

/**
 * The learned limit of each viem transport, because a provider has the same
 * limit for all log requests.
 */
const learnedLimits = /* @__PURE__ */ new WeakMap<object, LearnedLimit>()

/**
 * Number of answers that must succeed before a limit is doubled. `guessed`: the
 * limit was found by trying. `stated`: the node named it. Failures raise the
 * number up to `most`.
 */
const patience = { guessed: 4, stated: 64, most: 1024 }

/**
 * Returns the widest range that this provider is likely to answer, at most
 * `maxBlockRange`.
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
 * Remembers after a refusal how many blocks to ask for at most. If the node
 * refused a limit that was doubled before, four times as many answers must
 * succeed before the next doubling.
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
 * Counts a successful answer of full width. Doubles the limit after enough of
 * them, because the node may have refused the wider range only for a while.
 */
function confirmLimit({ transport }: Client, blocks: bigint): void {
  const known = learnedLimits.get(transport)
  if (!known || blocks < known.blocks) return
  known.left--
  if (known.left <= 0) known.blocks *= 2n
}

export type RangeAnswer<logs> =
  /** `hash` is that of the last block of the range. */
  | { logs: logs; hash: unknown }
  /** The node refused the range: ask for at most this many blocks. */
  | { narrower: bigint; again?: undefined; isMalformed?: undefined }
  /**
   * Temporary fault: send the request again, or one for at most `narrower`
   * blocks.
   */
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
 * Requests the logs of a range once, together with the last block of the range.
 * A replica that does not have this block yet would leave out its logs without
 * an error. If the node refuses, returns whether to ask again, and for how many
 * blocks. This number is always smaller than the range, so the caller's
 * narrowing ends.
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
  // Asks for the block before the logs if the transport sends them as separate
  // HTTP requests. If the block arrived between the two, its logs would be
  // missing.
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
    return { logs, hash: Object((await asked).result).hash }
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    // A truncated answer is malformed too. Send the request again, or one for
    // fewer blocks.
    const narrower = result === null ? undefined : halfOf(range)
    return { again: error, narrower, isMalformed: true }
  }
}

/**
 * The requests for blocks that each transport has in this turn of the event
 * loop.
 */
const askedNow = /* @__PURE__ */ new WeakMap<
  object,
  Map<string, Promise<RpcOutcome>>
>()

/**
 * Requests a block once in each turn of the event loop. Searches with other
 * filters that run at the same time often end at the same block, and share the
 * answer.
 */
export function askBlock(
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
 * Returns an error if the node does not have the block yet, or has a temporary
 * fault.
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
    // Learns nothing from the refusal of a single block: it says nothing about
    // wider ranges.
    if (narrower) learnLimit(client, narrower, { isStated })
    else learnedLimits.delete(client.transport)
  }
  if (narrower) return { narrower }
  throw refused()
}
