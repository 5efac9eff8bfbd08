import type { Client, Hash } from 'viem'
import { type CaptureOptions, planCapture } from './planCapture.js'
import { sendCall } from './sendCall.js'

/** The payment, and how {@link capturePayment} sends its capture. */
export type CapturePaymentParameters = CaptureOptions

/**
 * Simulates the capture of a payment, sends it with a gas limit based on the
 * simulated gas, and returns the hash of the transaction.
 *
 * A hash does not prove a capture: only `waitForOutcome` does.
 *
 * @throws {@link CaptureRejectedError} when the capture would fail; nothing was
 * sent.
 * @throws {@link SendError} when the node or wallet did not accept the
 * transaction. With `maybeSent` it may still be sent: `details` has its
 * `transactionHash` if known.
 * @throws {@link AccountError} when there is no account to send from.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the wallet is on another chain.
 * @throws {@link InvalidFieldError} when the payment is malformed, or a nonce,
 * gas or fee is not a whole number.
 * @throws {@link InvalidAmountError} when a checkout payment is captured
 * without an amount, or with a malformed one.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { capturePayment, type SignedPayment, waitForOutcome } from 'countersign'
 * import type { PublicClient, WalletClient } from 'viem'
 *
 * async function settle(
 *   reader: PublicClient,
 *   merchant: WalletClient,
 *   payment: SignedPayment,
 * ) {
 *   const hash = await capturePayment(merchant, { payment })
 *   return waitForOutcome(reader, { payment, hash, finality: 'safe' })
 * }
 * ```
 */
export async function capturePayment(
  client: Client,
  parameters: CapturePaymentParameters,
): Promise<Hash> {
  return sendCall(client, await planCapture(client, parameters))
}
