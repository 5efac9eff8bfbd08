import { InvalidFieldError, shown } from './errors.js'

/**
 * Checks how many rows a caller asks for.
 *
 * @throws {@link InvalidFieldError} when it is not a whole number from 1 to
 * `most`.
 */
export function parseLimit(
  limit: number | undefined,
  { usual, most }: { usual: number; most: number },
): number {
  if (limit === undefined) return usual
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new InvalidFieldError(
      'limit',
      shown(limit),
      `an integer from 1 to ${most}`,
    )
  return limit
}

/**
 * Checks a cursor or block number from a caller. Databases fail on negative
 * numbers, and on those above 2^63 - 1.
 *
 * @throws {@link InvalidFieldError} when it is not in this range.
 */
export function parsePosition<position extends bigint | undefined>(
  value: position,
  field: string,
): position {
  const fits = typeof value === 'bigint' && value >= 0n && value < 2n ** 63n
  if (value !== undefined && !fits)
    throw new InvalidFieldError(
      field,
      shown(value),
      'a cursor: a bigint of 0 or more',
    )
  return value
}
