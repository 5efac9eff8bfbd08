import { InvalidFieldError, shown } from './errors.js'

/**
 * Checks a limit that a merchant sets, as a decimal in whole tokens.
 *
 * @throws {@link InvalidFieldError} when the limit is not such a decimal.
 */
export function checkLimit(
  field: string,
  limit: unknown,
): asserts limit is string {
  const isLimit =
    typeof limit === 'string' &&
    /^(0|[1-9]\d{0,77})(\.\d{1,255})?$/.test(limit) &&
    /[1-9]/.test(limit)
  if (!isLimit)
    throw new InvalidFieldError(
      field,
      shown(limit),
      "a decimal string above 0, such as '12.50'",
    )
}
