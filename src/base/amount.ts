import { InvalidAmountError } from './errors.js'

/** The largest value a token can hold, 2^256 - 1. */
export const maxUint256: bigint = 2n ** 256n - 1n

/**
 * Reads a decimal amount as token units, exactly.
 *
 * Takes digits with an optional fraction: no sign, exponent, separator or
 * surrounding space, no leading zeros, no more fraction digits than the token
 * has. Never rounds. A JavaScript `number` is refused.
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
  const [, whole, fraction = ''] =
    (typeof amount === 'string' &&
      /^(0|[1-9]\d{0,77})(?:\.(\d{1,255}))?$/.exec(amount)) ||
    []
  if (whole === undefined)
    throw new InvalidAmountError(amount, 'is not a decimal')
  checkDecimals(decimals)
  if (fraction.length > decimals)
    throw new InvalidAmountError(
      amount,
      `has more than ${decimals} fraction digits`,
    )

  const value = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (value === 0n) throw new InvalidAmountError(amount, 'is zero')
  if (value > maxUint256)
    throw new InvalidAmountError(amount, 'exceeds 2^256 - 1 units')
  return value
}

/**
 * Writes token units as a decimal, the inverse of `parseAmount`; trailing
 * zeros of the fraction are left out.
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
  if (typeof value !== 'bigint' || value < 0n || value > maxUint256)
    throw new InvalidAmountError(value, 'is not a bigint from 0 to 2^256 - 1')
  checkDecimals(decimals)
  const digits = value.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return digits.slice(0, point) + (fraction && `.${fraction}`)
}

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 255)
    throw new InvalidAmountError(decimals, 'is no number of decimals')
}
