import type { Client, Hash } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import type { NodeFailure } from '../../chain/rpc/types.js'
import {
  judgeReceipt,
  type OutcomeKind,
  type PaymentOutcome,
} from '../../chain/state/getPaymentOutcome.js'
import { parseReceipt } from '../../chain/state/getReceipt.js'
import { checkMembers } from '../../core/checkMembers.js'
import { parseSignedPayment, requireSignature } from '../../core/fields.js'
import type { AnySignedPayment } from '../../core/types.js'
import {
  type CaptureOptions,
  captureMembers,
  planCapture,
} from './planCapture.js'
import { sendCall, signAndSend } from './sendCall.js'
import { isKnown, sendRaw } from './sendTransaction.js'
import type { SignedTransaction } from './signTransaction.js'
import { checkMilliseconds } from './startWait.js'
import { waitForOutcome } from './waitForOutcome.js'

/** The payment, and how {@link capturePaymentSync} sends its capture. */
export type CapturePaymentSyncParameters = CaptureOptions & {
  /**
   * Milliseconds to wait for an outcome.
   * @default 20_000
   */
  timeout?: number | undefined
  /**
   * Milliseconds between two polls. Used only if the node does not support
   * `eth_sendRawTransactionSync`, which waits for the receipt.
   */
  pollingInterval?: number | undefined
}

/**
 * Captures a payment and returns its outcome. Uses one request that the node
 * answers with the receipt (`eth_sendRawTransactionSync`, EIP-7966); polls if
 * the node does not support it.
 *
 * The outcome may be only `preconfirmed`: do not fulfil before `waitForOutcome`
 * returns a higher finality.
 *
 * @throws as {@link capturePayment} and {@link waitForOutcome}.
 *
 * @example
 * ```ts
 * import { capturePaymentSync, type SignedPayment } from 'countersign'
 * import type { WalletClient } from 'viem'
 *
 * const settle = (merchant: WalletClient, payment: SignedPayment) =>
 *   capturePaymentSync(merchant, { payment })
 * ```
 */
export async function capturePaymentSync(
  client: Client,
  parameters: CapturePaymentSyncParameters,
): Promise<PaymentOutcome> {
  checkMembers(parameters, {
    ...captureMembers,
    timeout: true,
    pollingInterval: true,
  })
  const {
    timeout = 20_000,
    pollingInterval,
    ...options
  }: CapturePaymentSyncParameters = Object(parameters)
  const { kind } = options
  const payment = kind
    ? requireSignature(kind.parse(options.payment))
    : parseSignedPayment(options.payment)
  // Checks the times before the capture is sent. `waitForOutcome` would refuse
  // them only after it.
  checkMilliseconds(timeout, 'timeout')
  checkMilliseconds(pollingInterval, 'pollingInterval')
  const capture = await planCapture(client, options)
  const deadline = performance.now() + timeout
  const wait = (hash: Hash) =>
    waitForOutcome(client, {
      payment,
      kind,
      hash,
      finality: 'preconfirmed',
      pollingInterval,
      timeout: Math.max(Math.ceil(deadline - performance.now()), 0),
    })
  if (capture.account.type !== 'local')
    return wait(await sendCall(client, capture))

  const givenNonce = capture.options.nonce
  const { hash, outcome } = await signAndSend(client, capture, (signed) =>
    sendSync(client, { payment, kind, givenNonce }, signed),
  )
  return outcome ?? wait(hash)
}

type CapturedPayment = {
  payment: AnySignedPayment
  kind: OutcomeKind | undefined
  givenNonce: number | undefined
}

/**
 * Sends the capture and waits for its receipt. Returns no outcome if the
 * transaction was sent but has no receipt yet.
 */
async function sendSync(
  client: Client,
  captured: CapturedPayment,
  signed: SignedTransaction,
): Promise<{ hash: Hash; outcome?: PaymentOutcome | undefined }> {
  const { hash, raw } = signed
  const method = 'eth_sendRawTransactionSync'
  const { result, failure } = await tryRequest(client, method, [raw], {
    retryCount: 0,
  })
  if (!failure) return { hash, outcome: judgeAnswer(result, captured, hash) }
  // Sends the same bytes again with `eth_sendRawTransaction`, which every node
  // has. This is safe: the account nonce lets only one copy into a block.
  const { givenNonce } = captured
  if (!isKnown(failure) && !isTimeout(failure))
    await sendRaw(client, { hash, raw, givenNonce })
  return { hash }
}

/**
 * Returns the outcome that the node's answer shows. Returns `undefined` if the
 * answer is not the transaction's receipt: the node accepted the transaction,
 * but has no outcome yet.
 */
function judgeAnswer(
  answer: unknown,
  { payment, kind }: CapturedPayment,
  hash: Hash,
): PaymentOutcome | undefined {
  try {
    const receipt = parseReceipt(answer, 'eth_sendRawTransactionSync')
    return receipt?.transactionHash.toLowerCase() === hash
      ? judgeReceipt(receipt, payment, undefined, kind)
      : undefined
  } catch {
    return undefined
  }
}

/**
 * True when the node accepted the transaction, but got no receipt in time: code
 * 4 of EIP-7966, or a text about a timeout.
 */
function isTimeout({ code, words }: NodeFailure): boolean {
  return code === 4 || /time[d ]*out/i.test(words)
}
