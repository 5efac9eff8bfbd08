import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { AttemptRecord } from '../../store/types.js'
import type { SettledPolicy } from '../model/types.js'

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

/** Seconds a payment is valid before it is drafted, against slow chain clocks. */
const secondsBefore = 60n

/**
 * How many seconds a buyer has, as asked or by the policy.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseWindow(
  policy: SettledPolicy,
  window: bigint = policy.window,
): bigint {
  // A payment is not accepted with no more than the margin left.
  const least = policy.safetyMargin + 1n
  if (typeof window !== 'bigint')
    throw new InvalidFieldError('window', window, 'a bigint of seconds')
  if (window < least || window > policy.maxWindow)
    throw new InvalidFieldError(
      'window',
      window,
      `from ${least} to ${policy.maxWindow} seconds`,
    )
  return window
}

/** A window of so many seconds from this time of the chain on. */
export function windowFrom(
  time: bigint,
  window: bigint,
): { validAfter: bigint; validBefore: bigint } {
  return { validAfter: time - secondsBefore, validBefore: time + window }
}
