import type { Client, Hash } from 'viem'
import { namesBlock } from '../../chain/logs/standsInBlock.js'
import {
  FinalityUnsupportedError,
  NodeError,
  UnsupportedTokenError,
} from '../../chain/rpc/errors.js'
import {
  type BlockSelector,
  getBlockHead,
  getChainId,
} from '../../chain/rpc/requestNode.js'
import {
  type NetworkPace,
  seenPaces,
} from '../../chain/state/detectPreconfirmations.js'
import {
  findOutcome,
  getSince,
  judgeReceipt,
  type OutcomeKind,
  type PaymentOutcome,
  requireChain,
} from '../../chain/state/getPaymentOutcome.js'
import { getReceipt } from '../../chain/state/getReceipt.js'
import { placeReceipt } from '../../chain/state/placeReceipts.js'
import { CountersignError } from '../../core/CountersignError.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parsePayment, parsePositiveInteger } from '../../core/fields.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import type { AnyPayment, Finality } from '../../core/types.js'
import { explainRevert } from './explainRevert.js'
import { checkMilliseconds, startWait } from './startWait.js'

/** The payment, and what {@link waitForOutcome} waits for. */
export type WaitForOutcomeParameters = {
  payment: AnyPayment
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: OutcomeKind | undefined
  /**
   * Hash of a transaction that captures or cancels the payment, if you know
   * one.
   */
  hash?: Hash | undefined
  /**
   * The finality to wait for. For nodes that know no `safe` or `finalized`
   * block, the number of blocks from the transaction's block to the newest,
   * both counted.
   * @default 'included'
   */
  finality?: Finality | { blocks: number } | undefined
  /**
   * Milliseconds between two polls. @default the client's, at most 1000 ms; for
   * `preconfirmed` at most 100 ms, or the interval that
   * `detectPreconfirmations` last found with this client
   */
  pollingInterval?: number | undefined
  /**
   * Longest wait in milliseconds.
   * @default until the payment expires
   */
  timeout?: number | undefined
  /**
   * Unix seconds. A cancellation that was made before this time is not searched
   * for.
   */
  since?: bigint | undefined
  signal?: AbortSignal | undefined
}

/**
 * Waits until a payment has an outcome at the requested finality: captured with
 * its proof, canceled, consumed by something else, or expired. Also finds
 * replacements, and transactions of third parties, because it watches the
 * payment nonce and not only the hash.
 *
 * Below `finalized`, a reorganization can still undo the outcome.
 * `preconfirmed` is only a promise of the sequencer.
 *
 * @throws {@link CaptureRevertedError} when the transaction failed and the
 * payment is still open.
 * @throws {@link OutcomeTimeoutError} when there is no outcome before
 * `timeout`.
 * @throws {@link FinalityUnsupportedError} when the node has no such block.
 * @throws {@link InvalidFieldError} when a parameter is malformed, or the
 * client is on another chain than the payment.
 * @throws {@link NodeError} when the node refuses. Temporary faults are
 * retried.
 *
 * @example
 * ```ts
 * import { type SignedPayment, waitForOutcome } from 'countersign'
 * import type { Hash, PublicClient } from 'viem'
 *
 * async function isPaid(
 *   client: PublicClient,
 *   payment: SignedPayment,
 *   hash: Hash,
 * ) {
 *   const outcome = await waitForOutcome(client, {
 *     payment,
 *     hash,
 *     finality: 'safe',
 *   })
 *   return outcome.status === 'captured'
 * }
 * ```
 */
export async function waitForOutcome(
  client: Client,
  parameters: WaitForOutcomeParameters,
): Promise<PaymentOutcome> {
  checkMembers(parameters, [
    'payment',
    'kind',
    'hash',
    'finality',
    'pollingInterval',
    'timeout',
    'since',
    'signal',
  ])
  const { timeout, signal, hash } = parameters
  checkMilliseconds(timeout, 'timeout')
  checkMilliseconds(parameters.pollingInterval, 'pollingInterval')
  checkSignal(signal)
  const since = getSince(parameters.since)
  const finality = parseFinality(parameters.finality)
  const seen = seenPaces.get(client.transport)
  const pace = finality === 'preconfirmed' ? (seen ?? eager) : calm
  const {
    pollingInterval = Math.min(client.pollingInterval, pace.pollingInterval),
  } = parameters
  const { signature: _, ...unsigned } = Object(parameters.payment)
  const { tag } = pace
  const { kind } = parameters
  const payment: AnyPayment = kind
    ? kind.parse(unsigned)
    : parsePayment(unsigned)
  const watch: Watch = {
    payment,
    kind,
    hash,
    since,
    finality,
    tag,
    // A pre-confirmation is rarely there at the first poll.
    rest: finality === 'preconfirmed' ? 1 : 0,
  }
  signal?.throwIfAborted()

  const wait = startWait({ timeout, signal, hash })
  let ready = false
  let doubted = false
  const glance = async () => {
    if (!ready) {
      requireChain(
        watch.payment,
        client.chain?.id ?? (await getChainId(client)),
      )
      await requireBlock(client, finality)
    }
    ready = true
    const outcome = await look(client, watch)
    // A replica that is behind finds no logs. So `unknown` counts only when two
    // polls in a row return it.
    const doubtful = outcome?.status === 'unknown' && !doubted
    doubted = outcome?.status === 'unknown'
    return doubtful ? undefined : outcome
  }
  try {
    for (;;) {
      const outcome = await wait.until(glance().catch(ignorePassing))
      if (outcome) return outcome
      await wait.pause(pollingInterval)
    }
  } finally {
    wait.end()
  }
}

/**
 * Pace of the polls without `detectPreconfirmations`: `eager` when waiting for
 * `preconfirmed`, otherwise `calm`.
 */
const eager: NetworkPace = { tag: 'pending', pollingInterval: 100 }
const calm: NetworkPace = { tag: 'latest', pollingInterval: 1000 }

type Watch = {
  payment: AnyPayment
  kind: OutcomeKind | undefined
  hash: Hash | undefined
  since: bigint | undefined
  finality: Finality | { blocks: number }
  /** The block tag that shows a pre-confirmed transaction first. */
  tag: NetworkPace['tag']
  /**
   * Polls without a receipt that are left before one reads the payment nonce.
   */
  rest: number
}

const finalities: readonly unknown[] = [
  'preconfirmed',
  'included',
  'safe',
  'finalized',
]

const isFinality = (value: unknown): value is Finality =>
  finalities.includes(value)

function checkSignal(signal: AbortSignal | undefined): void {
  const { aborted, addEventListener } = Object(signal)
  const isSignal =
    typeof aborted === 'boolean' && typeof addEventListener === 'function'
  if (signal !== undefined && !isSignal)
    throw new InvalidFieldError('signal', signal, 'an AbortSignal')
}

function parseFinality(
  finality: WaitForOutcomeParameters['finality'] = 'included',
): Watch['finality'] {
  if (isFinality(finality)) return finality
  if (typeof finality === 'string')
    throw new InvalidFieldError(
      'finality',
      shown(finality),
      `one of ${finalities.join(', ')}, or an object such as { blocks: 12 }`,
    )
  const { blocks } = Object(finality)
  return { blocks: parsePositiveInteger(blocks, 'finality.blocks') }
}

/**
 * While a known transaction has no receipt, the first poll also reads the
 * payment nonce, because another transaction may have replaced it; then only
 * every tenth poll does, to save requests. If the caller waits for `safe`,
 * `finalized` or a number of blocks, every poll reads it.
 */
const glances = 10

async function look(
  client: Client,
  watch: Watch,
): Promise<PaymentOutcome | undefined> {
  const { payment, kind, hash, finality } = watch
  const quick = finality === 'included' || finality === 'preconfirmed'
  const found = hash && (await getReceipt(client, hash))
  const decides = quick || found?.status === 'reverted'
  const receipt = found && decides ? await placeReceipt(client, found) : found
  const included = receipt && namesBlock(receipt.blockHash)
  if (receipt && quick && (included || finality === 'preconfirmed')) {
    const outcome = judgeReceipt(receipt, payment, undefined, kind)
    if (outcome) return outcome
  }
  if (quick && hash && !receipt && watch.rest > 0) {
    watch.rest--
    return undefined
  }

  const block = await judgingBlock(client, watch)
  if (block === undefined) return undefined
  const outcome = await judge(client, watch, block)
  // After `unknown`, the next poll asks again.
  watch.rest = outcome.status === 'unknown' ? 0 : glances - 1
  if (outcome.status !== 'unused') return outcome
  if (
    included &&
    receipt.status === 'reverted' &&
    (quick || (await isReached(client, block, receipt.blockNumber)))
  )
    await throwIfStillOpen(client, watch, receipt)
  return undefined
}

async function judge(
  client: Client,
  { payment, kind, hash, since }: Watch,
  block: BlockSelector,
): Promise<PaymentOutcome> {
  const at = (block: BlockSelector) =>
    findOutcome(client, { payment, kind, hash, block, since })
  if (block === 'latest') return at(block)
  try {
    const outcome = await at(block)
    // Many nodes have the state of their pending block, but not its logs.
    // Search again up to the newest block.
    return outcome.status === 'unknown' && block === 'pending'
      ? at('latest')
      : outcome
  } catch (error) {
    // The token may not have existed yet at this block. If it exists at
    // `latest`, the nonce was unused at this block.
    if (!(error instanceof UnsupportedTokenError)) throw error
    await at('latest')
    return { status: 'unused' }
  }
}

async function isReached(
  client: Client,
  block: BlockSelector,
  blockNumber: bigint,
): Promise<boolean> {
  const head = await getBlockHead(client, block)
  return head !== undefined && head.number >= blockNumber
}

async function throwIfStillOpen(
  client: Client,
  { payment, kind }: Pick<Watch, 'payment' | 'kind'>,
  receipt: ProofReceipt,
): Promise<void> {
  const { status } = await findOutcome(client, {
    payment,
    kind,
    block: 'latest',
  })
  if (status === 'unused' || status === 'expired')
    throw await explainRevert(client, receipt, { payment, kind })
}

async function judgingBlock(
  client: Client,
  { finality, tag }: Watch,
): Promise<BlockSelector | undefined> {
  if (finality === 'preconfirmed' || finality === 'included') return tag
  if (typeof finality === 'string') return finality
  const head = await getBlockHead(client, 'latest')
  const depth = BigInt(finality.blocks) - 1n
  return head && head.number >= depth ? head.number - depth : undefined
}

async function requireBlock(
  client: Client,
  finality: Watch['finality'],
): Promise<void> {
  if (finality !== 'safe' && finality !== 'finalized') return
  const head = await getBlockHead(client, finality).catch((error: unknown) => {
    if (!(error instanceof NodeError) || error.retryable) throw error
  })
  if (!head) throw new FinalityUnsupportedError({ finality })
}

/** Ignores a temporary failure: the next poll asks again. Throws any other. */
function ignorePassing(error: unknown): undefined {
  if (!(error instanceof CountersignError) || !error.retryable) throw error
}
