import { CountersignError } from '../../core/CountersignError.js'
import { shorten } from '../../core/errors.js'

/**
 * The permission differs from what the page expects. The wallet was not asked.
 */
export class UnexpectedSpendPermissionError extends CountersignError {
  override readonly name = 'UnexpectedSpendPermissionError'

  constructor(field: string, given: unknown, expected: unknown) {
    // Shortened, because the value may be a signature in the wrong field.
    const found = typeof given === 'string' ? shorten(given) : given
    super(`The permission's ${field} must be ${expected}, not ${found}.`, {
      field,
      found,
      expected,
    })
  }
}
