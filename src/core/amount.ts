import { InvalidAmountError } from './errors.js'

/**
 * Parses a decimal amount into base units of the token, exactly.
 *
 * Accepts digits with an optional fraction: no sign, exponent, separator or
 * surrounding space, no leading zeros, no more fraction digits than the token
 * has. Never rounds. Refuses a JavaScript `number`.
 *
 * @throws {@link InvalidAmountError} when `amount` is anything else, zero, or
 * above 2^256 - 1 units.
 *
 * @example
 * ```ts
 * import { parseAmount } from 'countersign'
 *
 * parseAmount('12.50', 6) // 12500000n
 * ```
 */
export function parseAmount(amount: string, decimals = 6): bigint {
  if (!isScale(decimals)) throw new InvalidAmountError(decimals, decimalsRule)
  const match =
    typeof amount === 'string' &&
    /^(0|[1-9]\d{0,77})(?:\.(\d{1,255}))?$/.exec(amount)
  if (match) {
    const [, whole, fraction = ''] = match
    const value = BigInt(whole + fraction.padEnd(decimals, '0'))
    if (fraction.length <= decimals && value && !(value >> 256n)) return value
  }
  throw new InvalidAmountError(
    amount,
    `a decimal string such as '12.50', above 0 and with at most ${decimals} places`,
  )
}

/**
 * Formats base units of the token as a decimal, the inverse of `parseAmount`.
 * Leaves out trailing zeros of the fraction.
 *
 * @throws {@link InvalidAmountError} when `value` is not a `bigint` from 0 to
 * 2^256 - 1.
 *
 * @example
 * ```ts
 * import { formatAmount } from 'countersign'
 *
 * formatAmount(12_500_000n, 6) // '12.5'
 * ```
 */
export function formatAmount(value: bigint, decimals = 6): string {
  if (typeof value !== 'bigint' || value >> 256n)
    throw new InvalidAmountError(
      value,
      'a bigint of token units, from 0 to 2^256 - 1',
    )
  if (!isScale(decimals)) throw new InvalidAmountError(decimals, decimalsRule)
  const digits = value.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return digits.slice(0, point) + (fraction && `.${fraction}`)
}

const decimalsRule = 'written with 0 to 255 decimals'

function isScale(decimals: number): boolean {
  return Number.isInteger(decimals) && decimals >= 0 && decimals < 256
}
