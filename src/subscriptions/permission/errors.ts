import { CountersignError } from '../../core/CountersignError.js'
import { shorten } from '../../core/errors.js'

/**
 * The permission to sign differs from what the page expects. The payer's wallet
 * was not asked to sign.
 */
export class UnexpectedSpendPermissionError extends CountersignError {
  override readonly name = 'UnexpectedSpendPermissionError'

  constructor(field: string, given: unknown, expected: unknown) {
    // Shortened: the value may be a signature in the wrong field, which must
    // not be shown.
    const found = typeof given === 'string' ? shorten(given) : given
    super(`The permission's ${field} must be ${expected}, not ${found}.`, {
      field,
      found,
      expected,
    })
  }
}
