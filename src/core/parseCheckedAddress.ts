import { type Address, isAddress } from 'viem'
import { InvalidFieldError, shown } from './errors.js'

/**
 * Parses an address. An address in mixed case must have the right checksum
 * (EIP-55).
 */
export function parseCheckedAddress(value: unknown, field: string): Address {
  if (typeof value !== 'string' || !isAddress(value, { strict: false }))
    throw new InvalidFieldError(field, shown(value), 'an address')
  if (!isAddress(value))
    throw new InvalidFieldError(
      field,
      shown(value),
      'an address with a right checksum, or all in lower case',
      'It may be mistyped: copy it again from its source.',
    )
  return value.toLowerCase() as Address
}
