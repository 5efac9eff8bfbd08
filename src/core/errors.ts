import { CountersignError } from './CountersignError.js'

/** An amount is not a plain positive decimal the token can represent. */
export class InvalidAmountError extends CountersignError {
  override readonly name = 'InvalidAmountError'

  constructor(given: unknown, expected: string) {
    const amount = showValue(shown(given))
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
   * Shows only the type of `given`, unless the call site marks it with `shown`.
   * Pass a sentence as `toDo` if the caller can fix the error in one way only.
   */
  constructor(field: string, given: unknown, rule: FieldRule, toDo?: string) {
    const value = showValue(given)
    const expected =
      typeof rule === 'object' ? `one of ${rule.join(', ')}` : rule
    const problem = `${field} must be ${expected}, not ${value}.`
    super(toDo ? `${problem} ${toDo}` : problem, { field, value, expected })
  }
}

class Shown {
  constructor(readonly value: unknown) {}
}

/** Marks a value that is no secret, so that an error shows it. */
export function shown(value: unknown): Shown {
  return new Shown(value)
}

/**
 * The error for a missing or malformed signature. Never shows the signature.
 */
export function invalidSignature(
  field: string,
  given: unknown,
  rule: string,
): InvalidFieldError {
  const toDo = given ? undefined : 'It is not signed.'
  return new InvalidFieldError(field, given, rule, toDo)
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
    const mine = isBehind
      ? 'if it is idle, mine a block; if you set its clock'
      : 'if you set its clock'
    super(
      `The chain's clock (${chain}) is ${distance} this machine's (${wall}). Check this machine's time, then the node. On your own chain: ${mine}, set policy.chainClock to 'own' in createOrders, or pass its time as now; the chain ids 31337 and 1337 are exempt.`,
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
 * The type of a value for an error text, on one short line. Adds the value if
 * it is {@link shown}.
 */
function showValue(given: unknown): string {
  const isShown = given instanceof Shown
  const value: unknown = isShown ? given.value : given
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (Object(value) === value) return 'an object'
  const type = typeof value
  if (!isShown) return `a ${type}`
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
