import { parseAmount } from '../../core/amount.js'
import {
  InvalidAmountError,
  InvalidFieldError,
  shown,
} from '../../core/errors.js'

/**
 * Checks an amount of an offer. Without `decimals`, because the token is not
 * read yet, it may have any number of places.
 *
 * @throws {@link InvalidFieldError} when the amount is malformed.
 */
export function checkAmount(
  field: string,
  amount: string,
  decimals: number = String(amount).split('.')[1]?.length ?? 0,
): bigint {
  try {
    return parseAmount(amount, decimals)
  } catch (error) {
    if (!(error instanceof InvalidAmountError)) throw error
    throw new InvalidFieldError(
      field,
      shown(amount),
      `a decimal string such as '0.01', above 0 and with at most ${decimals} places`,
    )
  }
}
