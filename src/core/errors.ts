import { CountersignError } from './CountersignError.js'

/**
 * An amount is not a positive decimal in digits that fits the token's decimals.
 */
export class InvalidAmountError extends CountersignError {
  override readonly name = 'InvalidAmountError'

  constructor(given: unknown, expected: string) {
    const amount = showValue(shown(given))
    super(`Amount must be ${expected}, not ${amount}.`, { amount, expected })
  }
}

/**
 * What a field must be, for the error message: a phrase such as `an address`,
 * or the list of allowed values.
 */
export type FieldRule = string | readonly unknown[]

/** A field of a payment or a parameter is malformed or unknown. */
export class InvalidFieldError extends CountersignError {
  override readonly name = 'InvalidFieldError'

  /**
   * The message shows only the type of `given`, because a value could be a
   * secret. It shows the value if the caller wraps it in `shown`. Pass a
   * sentence as `toDo` if there is only one way to correct the field.
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

/** Wraps a value that is no secret, so that the error message shows it. */
export function shown(value: unknown): Shown {
  return new Shown(value)
}

/**
 * Returns the error for a missing or malformed signature. The message never
 * contains the signature.
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
 * Describes a value for an error message on one short line: its type, and the
 * value itself if it is wrapped in {@link shown}.
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
 * Cuts text longer than 42 characters, so that a signature in the wrong field
 * is not shown, in hex or base64, whole or in half.
 */
export function shorten(text: string): string {
  return text.length > 42 ? `${text.slice(0, 12)}…` : text
}
