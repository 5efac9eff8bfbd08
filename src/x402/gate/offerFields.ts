import { InvalidFieldError, shown } from '../../core/errors.js'
import type { OrdersContext } from '../../orders/engine.js'

/** @throws {@link InvalidFieldError} when the value is not one of these. */
export function checkOneOf(
  field: string,
  value: unknown,
  allowed: readonly unknown[],
): void {
  if (!allowed.includes(value))
    throw new InvalidFieldError(field, shown(value), allowed)
}

/**
 * Checks the seconds for which a payment is valid: the policy of the orders
 * must accept such payments.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseTimeout(
  { policy }: OrdersContext,
  field: string,
  seconds = 300,
): number {
  const least = Number(policy.safetyMargin) + 1
  // The clock of a client may be up to 120 s ahead. The payment that it signs
  // then ends that much later.
  const most = Number(policy.maxWindow) - 120
  if (Number.isInteger(seconds) && seconds >= least && seconds <= most)
    return seconds
  throw new InvalidFieldError(
    `${field}.maxTimeoutSeconds`,
    shown(seconds),
    `seconds from ${least} to ${most}`,
  )
}
