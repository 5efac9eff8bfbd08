import { checkMembers } from '../../core/checkMembers.js'
import type { SignedCancellation } from '../../core/types.js'
import { describeCall, type TokenCall } from './captureCall.js'
import { encodeCancel } from './encodeCall.js'

/** The signed cancellation that {@link cancelCall} encodes. */
export type CancelCallParameters = {
  cancellation: SignedCancellation
}

/**
 * Builds the call that cancels a payment. Anyone may send it. The length of the
 * signature decides the overload, as for `captureCall`.
 *
 * A successful transaction does not prove the cancellation: some tokens do
 * nothing and succeed if the nonce is already used. Use `waitForOutcome`.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { cancelCall, type SignedCancellation } from 'countersign'
 *
 * const call = (cancellation: SignedCancellation) =>
 *   cancelCall({ cancellation })
 * ```
 */
export function cancelCall(parameters: CancelCallParameters): TokenCall {
  checkMembers(parameters, ['cancellation'])
  const call = encodeCancel(Object(parameters).cancellation)
  const { authorizer, nonce } = call.signed.message
  return describeCall(call, {
    functionName: 'cancelAuthorization',
    message: [authorizer, nonce],
  })
}
