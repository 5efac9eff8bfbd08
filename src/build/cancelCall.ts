import { readCancellation } from '../base/fields.js'
import { selectors } from '../base/tokenAbi.js'
import type { SignedCancellation } from '../base/types.js'
import { word } from '../base/words.js'
import {
  readTokenSignature,
  signedCall,
  type TokenCall,
} from './captureCall.js'

export type CancelCallParameters = {
  cancellation: SignedCancellation
}

/**
 * The call that makes a payment's nonce unusable; anyone may send it. The
 * overload follows from the length of the signature, as for `captureCall`.
 *
 * Success does not prove the cancellation: some tokens succeed on a used nonce
 * without a word. `waitForOutcome` tells.
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
  const { signature, ...unsigned } = Object(parameters.cancellation)
  const { domain, message } = readCancellation(unsigned)
  return signedCall({
    token: domain.verifyingContract,
    functionName: 'cancelAuthorization',
    selector: { vrs: selectors.cancelVrs, bytes: selectors.cancelBytes },
    words: word(message.authorizer) + word(message.nonce),
    args: [message.authorizer, message.nonce],
    signature: readTokenSignature(signature),
  })
}
