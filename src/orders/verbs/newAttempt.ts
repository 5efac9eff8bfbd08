import { drawPaymentNonce } from '../../core/drawPaymentNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { AttemptRecord } from '../../store/types.js'
import { unsignedAttempt } from '../model/draftedRows.js'
import { type HasKinds, hasTokenNonce, kindOf } from '../model/kindOf.js'
import { draftedPaymentOf } from '../model/paymentOf.js'
import type { SettledPolicy } from '../model/types.js'

/**
 * Creates the fields of an attempt (one payment that the buyer is asked for),
 * with a new payment nonce and no signature.
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
    nonce: drawPaymentNonce(),
  }
}

/**
 * For kinds whose payment nonce is computed from the signed terms, sets that
 * nonce. Otherwise returns the attempt unchanged.
 */
export function withOwnNonce<attempt extends Omit<AttemptRecord, 'version'>>(
  context: HasKinds,
  order: Parameters<typeof draftedPaymentOf>[1],
  attempt: attempt,
): attempt {
  if (!hasTokenNonce(kindOf(context, order))) return attempt
  const { nonce } = draftedPaymentOf(context, order, attempt).message
  return { ...attempt, nonce }
}

/**
 * Seconds by which `validAfter` lies before now, because the chain's clock may
 * be behind ours.
 */
const secondsBefore = 60n

/**
 * Returns how many seconds the buyer has to pay: the given number, or the
 * policy's default.
 * @throws {@link InvalidFieldError}
 */
export function parseWindow(
  policy: SettledPolicy,
  window: bigint = policy.window,
): bigint {
  // `accept` refuses a payment that expires within `safetyMargin`, so the
  // window must be longer.
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

/**
 * Returns the window of this many seconds that starts at this time of the
 * chain.
 */
export function windowFrom(
  time: bigint,
  window: bigint,
): { validAfter: bigint; validBefore: bigint } {
  return { validAfter: time - secondsBefore, validBefore: time + window }
}
