import { InvalidFieldError } from '../../core/errors.js'

/**
 * The number of a block, where one is given: a tag moves, and a store counts
 * only so far.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseBlockNumber(
  value: bigint | undefined,
  field: string,
): bigint | undefined {
  const fits = typeof value === 'bigint' && value >= 0n && value < 2n ** 63n
  if (value !== undefined && !fits)
    throw new InvalidFieldError(field, value, 'a block number, as a bigint')
  return value
}
