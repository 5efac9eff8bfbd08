import type { Client, Hash } from 'viem'
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
  type PaymentOutcome,
  requireChain,
} from '../../chain/state/getPaymentOutcome.js'
import { getReceipt } from '../../chain/state/getReceipt.js'
import { CountersignError } from '../../core/CountersignError.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parsePayment, parsePositiveInteger } from '../../core/fields.js'
import { type ProofReceipt, zeroHash } from '../../core/receiptProof.js'
import type { Finality, Payment } from '../../core/types.js'
import { explainRevert } from './explainRevert.js'
import { checkMilliseconds, startWait } from './startWait.js'

/** What {@link waitForOutcome} takes. */
export type WaitForOutcomeParameters = {
  payment: Payment
  /** The transaction that is to settle or cancel it, where one is known. */
  hash?: Hash | undefined
  /**
   * How sure the chain must be; for nodes without such a block, a number of
   * blocks the deciding one must count as the newest of. @default 'included'
   */
  finality?: Finality | { blocks: number } | undefined
  /**
   * Milliseconds between two looks. @default the client's, at most 1000 ms; for
   * `preconfirmed` at most 100 ms, or as `detectPreconfirmations` found fit when
   * it was last asked with this client, which also chooses the tag then
   */
  pollingInterval?: number | undefined
  /** Milliseconds to wait at most. @default until the payment expires */
  timeout?: number | undefined
  /** Unix seconds back to which a cancellation may lie. */
  since?: bigint | undefined
  signal?: AbortSignal | undefined
}

const members: MembersOf<WaitForOutcomeParameters> = {
  payment: true,
  hash: true,
  finality: true,
  pollingInterval: true,
  timeout: true,
  since: true,
  signal: true,
}

/**
 * Waits until the chain has decided a payment at the requested finality, and
 * returns the outcome: captured with its proof, canceled, consumed otherwise or
 * expired. Follows replaced transactions and submissions of third parties, because
 * it watches the payment nonce and not only the hash.
 *
 * Below `finalized` a reorganization can still take the outcome back;
 * `preconfirmed` is only a promise of the sequencer.
 *
 * @throws {@link CaptureRevertedError} when the transaction failed and the
 * payment is still open.
 * @throws {@link OutcomeTimeoutError} when `timeout` is over.
 * @throws {@link FinalityUnsupportedError} when the node has no such block.
 * @throws {@link InvalidFieldError} when a parameter is malformed, or the
 * client is on another chain than the payment.
 * @throws {@link NodeError} when the node refuses; passing faults are waited out.
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
  checkMembers(parameters, members)
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
  const watch = { payment: parsePayment(unsigned), hash, since, finality, tag }
  signal?.throwIfAborted()

  const wait = startWait({ timeout, signal, hash })
  let ready = false
  let doubted = false
  const glance = async (looks: number) => {
    if (!ready) {
      requireChain(
        watch.payment,
        client.chain?.id ?? (await getChainId(client)),
      )
      await requireBlock(client, finality)
    }
    ready = true
    const outcome = await look(client, watch, looks)
    // A replica behind the others finds no logs: one such answer is not enough.
    const doubtful = outcome?.status === 'unknown' && !doubted
    doubted = outcome?.status === 'unknown'
    return doubtful ? undefined : outcome
  }
  try {
    for (let looks = 0; ; looks++) {
      const outcome = await wait.until(glance(looks).catch(ignorePassing))
      if (outcome) return outcome
      await wait.pause(pollingInterval)
    }
  } finally {
    wait.end()
  }
}

/** Where nothing was detected. */
const eager: NetworkPace = { tag: 'pending', pollingInterval: 100 }
const calm: NetworkPace = { tag: 'latest', pollingInterval: 1000 }

type Watch = {
  payment: Payment
  hash: Hash | undefined
  since: bigint | undefined
  finality: Finality | { blocks: number }
  /** Where a pre-confirmation shows first. */
  tag: NetworkPace['tag']
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
      finality,
      `one of ${finalities.join(', ')}, or an object such as { blocks: 12 }`,
    )
  const { blocks } = Object(finality)
  return { blocks: parsePositiveInteger(blocks, 'finality.blocks') }
}

/** While a receipt is missing, the payment nonce is asked at every tenth look. */
const glances = 10

async function look(
  client: Client,
  watch: Watch,
  looks: number,
): Promise<PaymentOutcome | undefined> {
  const { payment, hash, finality } = watch
  const quick = finality === 'included' || finality === 'preconfirmed'
  const receipt = hash && (await getReceipt(client, hash))
  const included = receipt && receipt.blockHash !== zeroHash
  if (receipt && quick && (included || finality === 'preconfirmed')) {
    const outcome = judgeReceipt(receipt, payment, undefined)
    if (outcome) return outcome
  }
  if (quick && hash && !receipt && looks % glances !== glances - 1)
    return undefined

  const block = await judgingBlock(client, watch)
  if (block === undefined) return undefined
  const outcome = await judge(client, watch, block)
  if (outcome.status !== 'unused') return outcome
  if (
    included &&
    receipt.status === 'reverted' &&
    (quick || (await isReached(client, block, receipt.blockNumber)))
  )
    await throwIfStillOpen(client, payment, receipt)
  return undefined
}

async function judge(
  client: Client,
  { payment, hash, since }: Watch,
  block: BlockSelector,
): Promise<PaymentOutcome> {
  const at = (block: BlockSelector) =>
    findOutcome(client, { payment, hash, block, since })
  if (block === 'latest') return at(block)
  try {
    const outcome = await at(block)
    // Many nodes know the state of their pending block, and not its logs.
    return outcome.status === 'unknown' && block === 'pending'
      ? at('latest')
      : outcome
  } catch (error) {
    // The token may be younger than the block.
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
  payment: Payment,
  receipt: ProofReceipt,
): Promise<void> {
  const { status } = await findOutcome(client, { payment, block: 'latest' })
  if (status === 'unused' || status === 'expired')
    throw await explainRevert(client, receipt, payment)
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

/** A node that stumbles is asked again. */
function ignorePassing(error: unknown): undefined {
  if (!(error instanceof CountersignError) || !error.retryable) throw error
}
