import { InvalidFieldError, shown } from './errors.js'

/**
 * Parses the number of rows to return.
 *
 * @throws {@link InvalidFieldError}
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
 * Parses a cursor or block number. Database engines fail on other values.
 *
 * @throws {@link InvalidFieldError}
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
