import { InvalidFieldError, shown } from './errors.js'

/**
 * Checks an optional block number. Refuses tags such as `latest`, because the
 * block that they name changes. Refuses numbers from 2^63 on, which databases
 * cannot store.
 *
 * @throws {@link InvalidFieldError} when it is not such a number.
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
