import { InvalidFieldError } from '../base/errors.js'
import type { SettledPolicy } from '../records/types.js'

/** Seconds a payment is valid before it is drafted, against slow chain clocks. */
const secondsBefore = 60n

/**
 * How many seconds a buyer has, as asked or by the policy.
 *
 * @throws {@link InvalidFieldError}
 */
export function readWindow(
  policy: SettledPolicy,
  window: bigint = policy.window,
): bigint {
  if (typeof window !== 'bigint' || window < 1n || window > policy.maxWindow)
    throw new InvalidFieldError(
      'window',
      window,
      `a bigint of 1 to ${policy.maxWindow} seconds`,
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
