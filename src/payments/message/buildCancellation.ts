import { checkMembers } from '../../core/checkMembers.js'
import { parsePayment } from '../../core/fields.js'
import type { Cancellation, Payment } from '../../core/types.js'
import type { SigningKind } from './kind.js'

/** The payment that {@link buildCancellation} is to cancel, and its kind. */
export type BuildCancellationParameters = {
  /** The payment to cancel. */
  payment: Payment
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: Pick<SigningKind, 'parse' | 'primaryType'> | undefined
}

/**
 * Builds the message that a payer signs to cancel a payment.
 *
 * Signing alone changes nothing. The cancellation takes effect when someone
 * submits it, and only if the payment has not been captured before.
 *
 * @throws {@link InvalidFieldError} when the payment is malformed.
 *
 * @example
 * ```ts
 * import { buildCancellation, decodePayment } from 'countersign'
 *
 * const revoke = (json: string) =>
 *   buildCancellation({ payment: decodePayment(json) })
 * ```
 */
export function buildCancellation(
  parameters: BuildCancellationParameters,
): Cancellation {
  checkMembers(parameters, ['payment', 'kind'])
  const { payment, kind }: BuildCancellationParameters = Object(parameters)
  const { domain, message } = kind ? kind.parse(payment) : parsePayment(payment)
  return {
    primaryType: 'CancelAuthorization',
    domain,
    message: { authorizer: message.from, nonce: message.nonce },
  }
}
