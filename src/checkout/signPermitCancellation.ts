import { checkMembers } from '../core/checkMembers.js'
import { signWithWallet, type Wallet } from '../payments/sign/signWithWallet.js'
import type { DeploymentCall } from './checkoutContracts.js'
import { encodePermit } from './encodePermit.js'
import {
  parsePermitPayment,
  permitMessage,
  permitTypedData,
} from './parsePermitPayment.js'
import type { PermitPayment } from './types.js'

/** The payment that {@link signPermitCancellation} cancels. */
export type SignPermitCancellationParameters = {
  /** The payment to cancel. */
  payment: PermitPayment
  /**
   * Ends the wait for the wallet. The wallet may still show its window; if it
   * then signs, the signature is dropped.
   */
  signal?: AbortSignal | undefined
}

/**
 * Asks the payer's wallet to sign a permit for 0 tokens with the permit nonce
 * of the payment. Returns the call that submits this permit and so cancels the
 * payment. Anyone can send the call.
 *
 * A capture can still get into a block first: use `getPermitState` to see which
 * one won.
 *
 * @throws {@link WrongWalletError} when the wallet is on another chain or
 * account.
 * @throws {@link SigningDeclinedError} when the user declines.
 * @throws {@link WalletError} when the wallet fails or returns no signature.
 * @throws {@link InvalidFieldError} when the payment is malformed.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { type PermitPayment, signPermitCancellation } from 'countersign/checkout'
 * import type { WalletClient } from 'viem'
 * import { sendTransaction } from 'viem/actions'
 *
 * const cancel = async (
 *   payer: WalletClient,
 *   relayer: WalletClient,
 *   payment: PermitPayment,
 * ) =>
 *   sendTransaction(relayer, {
 *     ...(await signPermitCancellation(payer, { payment })),
 *     account: relayer.account ?? null,
 *     chain: relayer.chain,
 *   })
 * ```
 */
export async function signPermitCancellation(
  wallet: Wallet,
  parameters: SignPermitCancellationParameters,
): Promise<DeploymentCall> {
  checkMembers(parameters, ['payment', 'signal'])
  const given: SignPermitCancellationParameters = Object(parameters)
  const payment = parsePermitPayment(given.payment)
  const { from } = payment.message
  const message = { ...permitMessage(payment), value: 0n }
  const typedData = permitTypedData(payment, message)
  const signature = await signWithWallet(wallet, typedData, from, given.signal)
  return {
    to: payment.domain.verifyingContract,
    data: encodePermit(message, signature),
  }
}
