import type { Client } from 'viem'
import { type CaptureOptions, planCapture } from './planCapture.js'
import { parseAccount, parseLocalAccount } from './planTransaction.js'
import { signCall } from './sendCall.js'
import type { SignedTransaction } from './signTransaction.js'

/** The payment, and the fields of the transaction to sign. */
export type SignCaptureParameters = CaptureOptions

/**
 * Signs the capture of a payment without sending it, so that you can store the
 * bytes before you send them. Works with local accounts.
 *
 * The result contains the payment's signature: protect it like a credential.
 *
 * @throws {@link CaptureRejectedError} when the capture would fail.
 * @throws {@link AccountError} when the account cannot sign here.
 * @throws {@link SendError} when the signer fails.
 * @throws {@link SigningDeclinedError} when the signer declines.
 * @throws {@link InvalidFieldError} when the payment is malformed, or a nonce,
 * gas or fee is not a whole number.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { type SignedPayment, signCapture } from 'countersign'
 * import { sendRawTransaction } from 'viem/actions'
 * import type { WalletClient } from 'viem'
 *
 * async function settle(wallet: WalletClient, payment: SignedPayment) {
 *   const { raw } = await signCapture(wallet, { payment })
 *   // Persist it here: the same bytes can be sent again after a crash.
 *   return sendRawTransaction(wallet, { serializedTransaction: raw })
 * }
 * ```
 */
export async function signCapture(
  client: Client,
  parameters: SignCaptureParameters,
): Promise<SignedTransaction> {
  parseLocalAccount(parseAccount(client, Object(parameters).account))
  return signCall(client, await planCapture(client, parameters))
}
