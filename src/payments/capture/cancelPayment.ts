import type { Client, Hash } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { parseSignedCancellation } from '../../core/fields.js'
import type { SignedCancellation } from '../../core/types.js'
import { encodeCancel } from '../message/encodeCall.js'
import { defaultMaxCaptureGas, rehearseCancel } from '../verify/rehearse.js'
import { CancelRejectedError } from './errors.js'
import {
  gasLimit,
  hasFees,
  parseAccount,
  pickFees,
  type SendOptions,
} from './planTransaction.js'
import { sendCall } from './sendCall.js'

/** The cancellation, and how {@link cancelPayment} sends it. */
export type CancelPaymentParameters = SendOptions & {
  cancellation: SignedCancellation
}

/**
 * Simulates a payer's cancellation, sends it from any account, and returns the
 * hash of the transaction.
 *
 * A capture can still get into a block first: use `waitForOutcome` to see which
 * one won.
 *
 * @throws {@link CancelRejectedError} when the cancellation would fail, for
 * example because the nonce is consumed; nothing was sent.
 * @throws {@link SendError} when the node or wallet did not accept the
 * transaction. With `maybeSent` it may still be sent: `details` has its
 * `transactionHash` if known.
 * @throws {@link AccountError} when there is no account to send from.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the wallet is on another chain.
 * @throws {@link InvalidFieldError} when the cancellation is malformed, or a
 * nonce, gas or fee is not a whole number.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { cancelPayment, type SignedCancellation } from 'countersign'
 * import type { WalletClient } from 'viem'
 *
 * const relay = (relayer: WalletClient, cancellation: SignedCancellation) =>
 *   cancelPayment(relayer, { cancellation })
 * ```
 */
export async function cancelPayment(
  client: Client,
  parameters: CancelPaymentParameters,
): Promise<Hash> {
  checkMembers(parameters, [
    'cancellation',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
    'gasPrice',
    'account',
    'nonce',
    'gas',
    'maxCaptureGas',
  ])
  const { cancellation: given, ...options }: CancelPaymentParameters =
    Object(parameters)
  const { maxCaptureGas = defaultMaxCaptureGas } = options
  const cancellation = parseSignedCancellation(given)
  const account = parseAccount(client, options.account)
  const { chainId } = cancellation.domain
  if (client.chain && client.chain.id !== chainId)
    throw new CancelRejectedError({ reason: 'wrongChain' })

  const rehearsal = await rehearseCancel(client, cancellation, {
    origin: account.address,
    fees: hasFees(options) ? pickFees(options) : undefined,
    maxGas: maxCaptureGas,
  })
  if (!rehearsal.ok) throw new CancelRejectedError(rehearsal)
  const gas = options.gas ?? gasLimit(rehearsal, maxCaptureGas)
  const call = encodeCancel(cancellation)
  return sendCall(client, { call, chainId, account, gas, options })
}
