import { readCancellation } from '../base/fields.js'
import type { Cancellation, SignedCancellation } from '../base/types.js'
import { askWallet, type Wallet } from './askWallet.js'

/** What {@link signCancellation} takes. */
export type SignCancellationParameters = {
  cancellation: Cancellation
}

/**
 * Has the payer's wallet sign a cancellation.
 *
 * It takes effect when someone submits it, and only if the payment has not
 * been captured before.
 *
 * @throws {@link WrongWalletError} when the wallet is on another chain or account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or gives no signature.
 * @throws {@link InvalidFieldError} when the cancellation is malformed.
 *
 * @example
 * ```ts
 * import { buildCancellation, type Payment, signCancellation } from 'countersign'
 * import type { WalletClient } from 'viem'
 *
 * const revoke = (wallet: WalletClient, payment: Payment) =>
 *   signCancellation(wallet, { cancellation: buildCancellation({ payment }) })
 * ```
 */
export async function signCancellation(
  wallet: Wallet,
  parameters: SignCancellationParameters,
): Promise<SignedCancellation> {
  const cancellation = readCancellation(Object(parameters).cancellation)
  const { authorizer } = cancellation.message
  const signature = await askWallet(wallet, cancellation, authorizer)
  return { ...cancellation, signature }
}
