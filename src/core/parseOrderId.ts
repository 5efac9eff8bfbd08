import { InvalidFieldError, shown } from './errors.js'

/**
 * Checks the id of an order or a refund: 1 to 128 characters, without control
 * characters and lone surrogates.
 *
 * @throws {@link InvalidFieldError} when it is anything else.
 */
export function parseOrderId(value: unknown, field = 'orderId'): string {
  const fits =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= 128 &&
    // A lone surrogate is not valid Unicode. Databases would replace it, and
    // store another id.
    !/[\p{Cc}\p{Cs}]/u.test(value)
  if (!fits)
    throw new InvalidFieldError(
      field,
      shown(value),
      'text of 1 to 128 characters without control characters',
    )
  return value
}
