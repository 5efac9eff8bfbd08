import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { parsePayment } from '../../core/fields.js'
import type { Cancellation, Payment } from '../../core/types.js'

/** What {@link buildCancellation} takes. */
export type BuildCancellationParameters = {
  /** The payment whose nonce is to become unusable. */
  payment: Payment
}

const members: MembersOf<BuildCancellationParameters> = {
  payment: true,
}

/**
 * Builds the message with which a payer makes a payment uncapturable.
 *
 * It takes effect when someone submits it, and only if the payment has not
 * been captured before; signing alone changes nothing.
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
  checkMembers(parameters, members)
  const { domain, message } = parsePayment(Object(parameters).payment)
  return {
    primaryType: 'CancelAuthorization',
    domain,
    message: { authorizer: message.from, nonce: message.nonce },
  }
}
