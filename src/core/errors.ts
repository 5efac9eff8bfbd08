import { CountersignError } from './CountersignError.js'

/** An amount is not a plain positive decimal the token can represent. */
export class InvalidAmountError extends CountersignError {
  override readonly name = 'InvalidAmountError'

  constructor(given: unknown, expected: string) {
    const amount = showValue(given)
    super(`Amount must be ${expected}, not ${amount}.`, { amount, expected })
  }
}

/**
 * What a field must be: a phrase such as `an address`, or the values it may
 * have.
 */
export type FieldRule = string | readonly unknown[]

/** A field of a payment or a parameter is malformed or unknown. */
export class InvalidFieldError extends CountersignError {
  override readonly name = 'InvalidFieldError'

  /**
   * Pass a sentence as `toDo` if the caller can fix the error in one way only.
   */
  constructor(field: string, given: unknown, rule: FieldRule, toDo?: string) {
    const isSignature = /sig/i.test(field)
    // A URL often holds a key.
    const value = showValue(given, isSignature || /url|socket/i.test(field))
    const expected =
      typeof rule === 'object' ? `one of ${rule.join(', ')}` : rule
    const problem =
      isSignature && given === undefined
        ? `${field} is missing: this is not signed.`
        : `${field} must be ${expected}, not ${value}.`
    super(toDo ? `${problem} ${toDo}` : problem, { field, value, expected })
  }
}

/** The clocks of the node and of this machine differ too much. */
export class ClockSkewError extends CountersignError {
  override readonly name = 'ClockSkewError'
  override readonly retryable = true

  constructor(facts: { chain: bigint; wall: bigint }) {
    const { chain, wall } = facts
    const difference = chain - wall
    const isBehind = difference < 0n
    const distance = isBehind
      ? `${-difference} seconds behind`
      : `${difference} seconds ahead of`
    const idle = isBehind
      ? ' If this is your own chain and it is idle, mine a block, or mine at an interval; the chain ids 31337 and 1337 are exempt.'
      : ''
    super(
      `The chain's clock (${chain}) is ${distance} this machine's (${wall}). Check this machine's time, then the node.${idle}`,
      facts,
    )
  }
}

/** This runtime has no Web Crypto to draw a nonce from. */
export class NoRandomnessError extends CountersignError {
  override readonly name = 'NoRandomnessError'

  constructor() {
    super(
      'This runtime has no Web Crypto to draw a nonce from: pass a random nonce.',
    )
  }
}

/**
 * A value with its type for an error text, on one short line. Shows only the
 * type of a secret.
 */
function showValue(value: unknown, isSecret = false): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (Object(value) === value) return 'an object'
  const type = typeof value
  if (isSecret) return `a ${type}`
  const short = shorten(String(value))
  return type === 'string' ? JSON.stringify(short) : `${short} (${type})`
}

/**
 * Cuts text so short that it cannot show a misplaced signature or half of one,
 * in hex or base64.
 */
export function shorten(text: string): string {
  return text.length > 42 ? `${text.slice(0, 12)}…` : text
}
