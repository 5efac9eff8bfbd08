import { InvalidFieldError, shown } from './errors.js'

/**
 * Checks a block number, if there is one. Refuses tags, because their block
 * changes, and numbers from 2^63 on, which databases cannot store.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseBlockNumber(
  value: bigint | undefined,
  field: string,
): bigint | undefined {
  const fits = typeof value === 'bigint' && value >= 0n && value < 2n ** 63n
  if (value !== undefined && !fits)
    throw new InvalidFieldError(
      field,
      shown(value),
      'a block number, as a bigint',
    )
  return value
}
