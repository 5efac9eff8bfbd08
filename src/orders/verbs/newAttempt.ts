import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { AttemptRecord } from '../../store/types.js'
import { unsignedAttempt } from '../model/draftedRows.js'
import { type HasKinds, kindOf } from '../model/kindOf.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import type { SettledPolicy } from '../model/types.js'

/**
 * Creates the fields of a payment attempt with a new payment nonce and no
 * signature.
 */
export function newAttempt(
  fields: Pick<
    AttemptRecord,
    | 'orderId'
    | 'number'
    | 'chainId'
    | 'token'
    | 'payer'
    | 'value'
    | 'terms'
    | 'validAfter'
    | 'validBefore'
  >,
): Omit<AttemptRecord, 'version'> {
  return {
    ...unsignedAttempt,
    ...fields,
    nonce: drawNonce(),
  }
}

/**
 * Gives an attempt the payment nonce that follows from its terms, if its kind
 * has such nonces.
 */
export function withOwnNonce<attempt extends Omit<AttemptRecord, 'version'>>(
  context: HasKinds,
  order: Parameters<typeof draftedPaymentOf>[1],
  attempt: attempt,
): attempt {
  if (!kindOf(context, order).hasOwnNonce) return attempt
  const { nonce } = draftedPaymentOf(context, order, attempt).message
  return { ...attempt, nonce }
}

/** Seconds from `validAfter` to now. The chain's clock may be behind ours. */
const secondsBefore = 60n

/**
 * Parses the seconds that a buyer has, by default those of the policy.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseWindow(
  policy: SettledPolicy,
  window: bigint = policy.window,
): bigint {
  // `accept` refuses a payment with only the margin left.
  const least = policy.safetyMargin + 1n
  if (typeof window !== 'bigint')
    throw new InvalidFieldError('window', shown(window), 'a bigint of seconds')
  if (window < least || window > policy.maxWindow)
    throw new InvalidFieldError(
      'window',
      shown(window),
      `from ${least} to ${policy.maxWindow} seconds`,
    )
  return window
}

/** Returns the window of this many seconds from this time of the chain. */
export function windowFrom(
  time: bigint,
  window: bigint,
): { validAfter: bigint; validBefore: bigint } {
  return { validAfter: time - secondsBefore, validBefore: time + window }
}
