import type { Address, Hex } from 'viem'
import { maxUint256 } from './amount.js'
import { InvalidFieldError } from './errors.js'
import type {
  Cancellation,
  Payment,
  PrimaryType,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
} from './types.js'

/** Reads a value or throws an error that names the field. */
export type ReadField<value> = (value: unknown, field: string) => value

const hexField =
  (pattern: RegExp, expected: string): ReadField<Hex> =>
  (value, field) => {
    if (typeof value !== 'string' || !pattern.test(value))
      throw new InvalidFieldError(field, value, expected)
    return value.toLowerCase() as Hex
  }

/** Takes any letter case and gives lower case: one spelling, no checksum. */
export const readAddress: ReadField<Address> = /* @__PURE__ */ hexField(
  /^0x[\da-f]{40}$/i,
  'an address (0x and 40 hex digits)',
)

export const readBytes32: ReadField<Hex> = /* @__PURE__ */ hexField(
  /^0x[\da-f]{64}$/i,
  '32 bytes (0x and 64 hex digits)',
)

export const readSignature: ReadField<Hex> = /* @__PURE__ */ hexField(
  /^0x([\da-f]{2}){1,16384}$/i,
  'hex bytes',
)

/** An unsigned 256-bit `bigint`. */
export const readUint256: ReadField<bigint> = (value, field) => {
  if (typeof value !== 'bigint' || value < 0n || value > maxUint256)
    throw new InvalidFieldError(field, value, 'a bigint from 0 to 2^256 - 1')
  return value
}

export const readText: ReadField<string> = (value, field) => {
  if (typeof value !== 'string' || value.length > 256)
    throw new InvalidFieldError(field, value, 'text of at most 256 characters')
  return value
}

export const readChainId: ReadField<number> = (value, field) => {
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw new InvalidFieldError(field, value, 'a chain id (positive integer)')
  return value as number
}

export const readPrimaryType: ReadField<PrimaryType> = (value, field) => {
  if (
    value !== 'ReceiveWithAuthorization' &&
    value !== 'TransferWithAuthorization'
  )
    throw new InvalidFieldError(
      field,
      value,
      'ReceiveWithAuthorization or TransferWithAuthorization',
    )
  return value
}

/** Reads an object with exactly the members of `shape`, optional ones as named. */
export function readObject<shape extends Record<string, ReadField<unknown>>>(
  value: unknown,
  field: string,
  shape: shape,
  optional = '',
): { [key in keyof shape]: ReturnType<shape[key]> } {
  if (typeof value !== 'object' || !value || Array.isArray(value))
    throw new InvalidFieldError(field, value, 'an object')
  const input = value as Record<string, unknown>
  for (const key of Object.keys(input))
    if (!Object.hasOwn(shape, key))
      throw new InvalidFieldError(field, key, 'free of unknown members')
  const output: Record<string, unknown> = {}
  for (const key of Object.keys(shape))
    if (key !== optional || input[key] !== undefined)
      output[key] = shape[key]?.(
        Object.hasOwn(input, key) ? input[key] : undefined,
        `${field}.${key}`,
      )
  return output as { [key in keyof shape]: ReturnType<shape[key]> }
}

/** Reads a payment, signed or not; `uint` says how its integers are written. */
export function readPayment(
  value: unknown,
  uint: ReadField<bigint> = readUint256,
): Payment | SignedPayment {
  return readObject(
    value,
    'payment',
    {
      primaryType: readPrimaryType,
      domain: readDomain,
      message: (message, field) =>
        readObject(message, field, {
          from: readAddress,
          to: readAddress,
          value: uint,
          validAfter: uint,
          validBefore: uint,
          nonce: readBytes32,
        }),
      signature: readSignature,
    },
    'signature',
  )
}

/** Reads a cancellation, signed or not. */
export function readCancellation(
  value: unknown,
): Cancellation | SignedCancellation {
  return readObject(
    value,
    'cancellation',
    {
      primaryType: readCancelType,
      domain: readDomain,
      message: (message, field) =>
        readObject(message, field, {
          authorizer: readAddress,
          nonce: readBytes32,
        }),
      signature: readSignature,
    },
    'signature',
  )
}

const readCancelType: ReadField<Cancellation['primaryType']> = (
  value,
  field,
) => {
  if (value !== 'CancelAuthorization')
    throw new InvalidFieldError(field, value, 'CancelAuthorization')
  return value
}

function readDomain(value: unknown, field: string): TokenDomain {
  return readObject(value, field, {
    name: readText,
    version: readText,
    chainId: readChainId,
    verifyingContract: readAddress,
  })
}
