import type { Client, Hash } from 'viem'
import { readPayment } from '../base/fields.js'
import { zeroHash } from '../base/receiptProof.js'
import type { Finality, Payment } from '../base/types.js'
import {
  FinalityUnsupportedError,
  NodeError,
  UnsupportedTokenError,
} from '../reads/errors.js'
import {
  getPaymentOutcome,
  judgeReceipt,
  type PaymentOutcome,
} from '../reads/getPaymentOutcome.js'
import { getReceipt } from '../reads/getReceipt.js'
import { type BlockSelector, getBlockHead } from '../reads/requestNode.js'
import { OutcomeTimeoutError } from './errors.js'
import { explainRevert } from './explainRevert.js'

export type WaitForOutcomeParameters = {
  payment: Payment
  /** The transaction that is to settle or cancel it, where one is known. */
  hash?: Hash | undefined
  /**
   * How sure the chain must be; for nodes without such a block, a number of
   * blocks the deciding one must count as the newest of. @default 'included'
   */
  finality?: Finality | { blocks: number } | undefined
  /** Milliseconds between two looks. @default the client's, at most 1000 */
  pollingInterval?: number | undefined
  /** Milliseconds to wait at most. @default until the payment expires */
  timeout?: number | undefined
  /** Unix seconds back to which a cancellation may lie. */
  since?: bigint | undefined
  signal?: AbortSignal | undefined
}

/**
 * Waits until the chain has decided a payment, at the finality asked for, and
 * tells how: captured with its proof, canceled, consumed otherwise, expired.
 * Follows replaced transactions, and third parties' submissions, since it
 * watches the nonce and not only the hash.
 *
 * Below `finalized` a reorganization can still take the outcome back;
 * `preconfirmed` is a promise of the sequencer's and nothing more.
 *
 * @throws {@link CaptureRevertedError} when the transaction failed and the
 * payment is still open.
 * @throws {@link OutcomeTimeoutError} when `timeout` is over.
 * @throws {@link FinalityUnsupportedError} when the node has no such block.
 * @throws {@link InvalidFieldError} when the payment is malformed.
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
  const { timeout, signal, hash, since } = parameters
  const { finality = 'included' } = parameters
  const { pollingInterval = Math.min(client.pollingInterval, 1000) } =
    parameters
  const { signature: _, ...unsigned } = parameters.payment as Payment & {
    signature?: unknown
  }
  const payment = readPayment(unsigned)
  const deadline = timeout === undefined ? undefined : Date.now() + timeout
  const watch = { payment, hash, since, finality }
  if (finality === 'safe' || finality === 'finalized')
    await requireBlock(client, finality)

  for (let looks = 0; ; looks++) {
    signal?.throwIfAborted()
    const outcome = await look(client, watch, looks).catch(ignorePassing)
    if (outcome) return outcome
    if (timeout !== undefined && Date.now() >= (deadline ?? 0))
      throw new OutcomeTimeoutError({ timeout, hash })
    await sleep(pollingInterval, signal)
  }
}

type Watch = {
  payment: Payment
  hash: Hash | undefined
  since: bigint | undefined
  finality: Finality | { blocks: number }
}

/** Looks at the nonce at every tenth glance at a receipt only. */
const glances = 10

async function look(
  client: Client,
  { payment, hash, since, finality }: Watch,
  looks: number,
): Promise<PaymentOutcome | undefined> {
  const quick = finality === 'included' || finality === 'preconfirmed'
  const receipt = hash && (await getReceipt(client, hash))
  const included = receipt && receipt.blockHash !== zeroHash
  if (receipt && quick && (included || finality === 'preconfirmed')) {
    const outcome = judgeReceipt(receipt, payment, undefined)
    if (outcome) return outcome
  }
  if (quick && hash && !receipt && looks % glances !== glances - 1)
    return undefined

  const block = await judgingBlock(client, finality)
  if (block === undefined) return undefined
  const outcome = await getPaymentOutcome(client, {
    payment,
    hash,
    block,
    since,
  })
  const failed = included && receipt.status === 'reverted'
  if (outcome.status === 'unused' && failed)
    await throwIfStillOpen(client, payment, receipt)
  return outcome.status === 'unused' ? undefined : outcome
}

async function throwIfStillOpen(
  client: Client,
  payment: Payment,
  receipt: { transactionHash: Hash; blockNumber: bigint },
): Promise<void> {
  const { status } = await getPaymentOutcome(client, { payment })
  if (status === 'unused' || status === 'expired')
    throw await explainRevert(client, receipt)
}

async function judgingBlock(
  client: Client,
  finality: Watch['finality'],
): Promise<BlockSelector | undefined> {
  if (finality === 'preconfirmed') return 'pending'
  if (finality === 'included') return 'latest'
  if (typeof finality === 'string') return finality
  const head = await getBlockHead(client, 'latest')
  const depth = BigInt(finality.blocks) - 1n
  return head && head.number >= depth ? head.number - depth : undefined
}

async function requireBlock(client: Client, finality: Finality): Promise<void> {
  const head = await getBlockHead(client, finality as 'safe').catch(
    (error: unknown) => {
      if (error instanceof NodeError && error.retryable) throw error
    },
  )
  if (!head) throw new FinalityUnsupportedError({ finality })
}

/** A node that stumbles is asked again; a token may be younger than `safe`. */
function ignorePassing(error: unknown): undefined {
  if (error instanceof NodeError && error.retryable) return undefined
  if (error instanceof UnsupportedTokenError) return undefined
  throw error
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal?.addEventListener('abort', wake)
  })
}
