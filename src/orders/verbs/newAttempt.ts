import { drawNonce } from '../../core/drawNonce.js'
import type { AttemptRecord } from '../../store/types.js'

/** An attempt nobody has signed yet, with a nonce of its own. */
export function newAttempt(
  fields: Pick<
    AttemptRecord,
    | 'orderId'
    | 'number'
    | 'chainId'
    | 'token'
    | 'payer'
    | 'value'
    | 'validAfter'
    | 'validBefore'
  >,
): Omit<AttemptRecord, 'version'> {
  return {
    ...fields,
    nonce: drawNonce(),
    signedAfter: undefined,
    signedBefore: undefined,
    signatureHash: undefined,
    spendableUntil: undefined,
    spendable: false,
    signature: undefined,
    cancellation: undefined,
  }
}
