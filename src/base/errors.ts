import { CountersignError } from './CountersignError.js'

/** An amount is not a plain positive decimal the token can represent. */
export class InvalidAmountError extends CountersignError {
  override readonly name = 'InvalidAmountError'

  constructor(given: unknown, expected: string) {
    const amount = showValue(given)
    super(`Amount must be ${expected}, not ${amount}.`, { amount, expected })
  }
}

/** A field of a payment, a cancellation or an expectation is malformed. */
export class InvalidFieldError extends CountersignError {
  override readonly name = 'InvalidFieldError'

  constructor(field: string, given: unknown, expected: string) {
    const value = /sig/i.test(field) ? 'this' : showValue(given)
    super(`${field} must be ${expected}, not ${value}.`, {
      field,
      value,
      expected,
    })
  }
}

/** The clock of the node and the clock of this machine disagree too far. */
export class ClockSkewError extends CountersignError {
  override readonly name = 'ClockSkewError'
  override readonly retryable = true

  constructor(facts: { chain: bigint; wall: bigint }) {
    super(
      `The chain's clock says ${facts.chain}, this machine's ${facts.wall}.`,
      facts,
    )
  }
}

/**
 * A value for an error text: short, one line. Long text is cut so early that
 * neither a misplaced signature nor one half of it, base64 or not, fits.
 */
function showValue(value: unknown): string {
  if (Object(value) === value) return 'an object'
  const text = String(value)
  return text.length > 42 ? `${text.slice(0, 12)}…` : JSON.stringify(text)
}
