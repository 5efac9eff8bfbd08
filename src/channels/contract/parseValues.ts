import { InvalidFieldError, shown } from '../../core/errors.js'

/** Returns the own members of an object, in a copy that nobody else changes. */
export function parseObject(
  value: unknown,
  field: string,
): Record<string, unknown> {
  if (typeof value === 'object' && value && !Array.isArray(value))
    return { ...value }
  throw new InvalidFieldError(field, value, 'an object')
}

/** Parses an amount in base units: the contract keeps amounts as `uint128`. */
export function parseUnits(value: unknown, field: string, least = 0n): bigint {
  if (typeof value === 'bigint' && value >= least && !(value >> 128n))
    return value
  throw new InvalidFieldError(
    field,
    shown(value),
    `a bigint of base units from ${least} to 2^128 - 1`,
  )
}

export function parseUint256(value: unknown, field: string): bigint {
  if (typeof value === 'bigint' && !(value >> 256n)) return value
  throw new InvalidFieldError(
    field,
    shown(value),
    'a bigint from 0 to 2^256 - 1',
  )
}
