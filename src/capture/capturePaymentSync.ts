import type { Client, Hash } from 'viem'
import { readSignedPayment } from '../base/fields.js'
import type { SignedPayment } from '../base/types.js'
import type { NodeFailure } from '../reads/errors.js'
import {
  judgeReceipt,
  type PaymentOutcome,
} from '../reads/getPaymentOutcome.js'
import { readReceipt } from '../reads/getReceipt.js'
import { tryRequest } from '../reads/requestNode.js'
import { type CaptureOptions, planCapture } from './planCapture.js'
import { planTransaction } from './planTransaction.js'
import { sendCall } from './sendCall.js'
import {
  isKnown,
  type SignedTransaction,
  sendError,
  sendRaw,
  signTransaction,
} from './sendTransaction.js'
import { waitForOutcome } from './waitForOutcome.js'

export type CapturePaymentSyncParameters = CaptureOptions & {
  /** Milliseconds to wait for an outcome. @default 20_000 */
  timeout?: number | undefined
  /** Milliseconds between two looks where the node cannot answer at once. */
  pollingInterval?: number | undefined
}

/**
 * Settles a payment and gives its outcome, through one request that the node
 * answers with the receipt (`eth_sendRawTransactionSync`, EIP-7966), or by
 * polling where it has no such method.
 *
 * The outcome may be only `preconfirmed`: fulfil nothing before `waitForOutcome`
 * gave it a better grade.
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
  const { timeout = 20_000, pollingInterval, ...options } = parameters
  const payment = readSignedPayment(options.payment)
  const capture = await planCapture(client, options)
  const wait = (hash: Hash) =>
    waitForOutcome(client, {
      payment,
      hash,
      finality: 'preconfirmed',
      pollingInterval,
      timeout,
    })
  if (capture.account.type !== 'local')
    return wait(await sendCall(client, capture))

  const transaction = await planTransaction(client, capture)
  const signed = await signTransaction(client, capture.account, transaction)
  const told = await sendSync(client, payment, signed)
  return told ?? wait(signed.hash)
}

/** `undefined` where the transaction is on its way and nothing is known yet. */
async function sendSync(
  client: Client,
  payment: SignedPayment,
  signed: SignedTransaction,
): Promise<PaymentOutcome | undefined> {
  const method = 'eth_sendRawTransactionSync'
  const { result, failure } = await tryRequest(client, method, [signed.raw], {
    retryCount: 0,
  })
  if (!failure)
    return judgeReceipt(readReceipt(result, method), payment, undefined)
  if (isMissing(failure)) await sendRaw(client, signed)
  else if (!isKnown(failure) && !isTimeout(failure))
    throw sendError(failure, signed.hash)
  return undefined
}

/** Unknown or unsupported method (EIP-1474). */
function isMissing({ code }: NodeFailure): boolean {
  return code === -32601 || code === -32004
}

/** EIP-7966's code 4, a node's own words, or no answer at all. */
function isTimeout({ code, words }: NodeFailure): boolean {
  return code === undefined || code === 4 || /time[d ]*out/i.test(words)
}
