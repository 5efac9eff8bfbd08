import type { Address, Hex } from 'viem'
import { maxUint256 } from './amount.js'
import { InvalidFieldError } from './errors.js'
import type {
  Cancellation,
  Payment,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
} from './types.js'

/** Reads a value or throws an error that names the field. */
export type ReadField<value> = (value: unknown, field: string) => value

/** A reader of what `accept` turns into a value, and not into `undefined`. */
export const reader =
  <value>(
    accept: (value: unknown) => value | undefined,
    expected: string,
  ): ReadField<value> =>
  (value, field) => {
    const accepted = accept(value)
    if (accepted === undefined)
      throw new InvalidFieldError(field, value, expected)
    return accepted
  }

/** Takes any letter case and gives lower case: one spelling, no checksum. */
const hexReader = (digits: string, expected: string): ReadField<Hex> => {
  const pattern = new RegExp(`^0x([\\da-f]${digits})$`, 'i')
  return reader(
    (value) =>
      typeof value === 'string' && pattern.test(value)
        ? (value.toLowerCase() as Hex)
        : undefined,
    expected,
  )
}

export const readAddress: ReadField<Address> = /* @__PURE__ */ hexReader(
  '{40}',
  'an address',
)

export const readBytes32: ReadField<Hex> = /* @__PURE__ */ hexReader(
  '{64}',
  '32 bytes',
)

const readSignature = /* @__PURE__ */ hexReader('{2}){1,16384}(', 'bytes')

/** The value if it is an unsigned 256-bit integer. */
export const uint256 = (value: unknown): bigint | undefined =>
  typeof value === 'bigint' && value >= 0n && value <= maxUint256
    ? value
    : undefined

const readUint256 = /* @__PURE__ */ reader(
  uint256,
  'a bigint from 0 to 2^256 - 1',
)

const readText = /* @__PURE__ */ reader(
  (value) =>
    typeof value === 'string' && value.length <= 256 ? value : undefined,
  'text of at most 256 characters',
)

const readChainId = /* @__PURE__ */ reader(
  (value) =>
    Number.isSafeInteger(value) && (value as number) > 0
      ? (value as number)
      : undefined,
  'a positive integer',
)

/** A reader of one of a few words. */
const wordReader = <word extends string>(
  ...words: readonly word[]
): ReadField<word> =>
  reader((value) => words.find((word) => word === value), words.join(' or '))

const readPrimaryType = /* @__PURE__ */ wordReader(
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
)

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
  const unknown = Object.keys(input).find((key) => !Object.hasOwn(shape, key))
  if (unknown) throw new InvalidFieldError(field, unknown, 'of known members')
  const output: Record<string, unknown> = {}
  for (const key in shape)
    if (key !== optional || input[key] !== undefined)
      output[key] = shape[key]?.(input[key], `${field}.${key}`)
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

/** Reads a payment that must be signed. */
export function readSignedPayment(value: unknown): SignedPayment {
  const payment = readPayment(value)
  return {
    ...payment,
    signature: readSignature(Object(value).signature, 'payment.signature'),
  }
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

/** Reads a cancellation that must be signed. */
export function readSignedCancellation(value: unknown): SignedCancellation {
  const cancellation = readCancellation(value)
  return {
    ...cancellation,
    signature: readSignature(Object(value).signature, 'cancellation.signature'),
  }
}

const readCancelType = /* @__PURE__ */ wordReader('CancelAuthorization')

function readDomain(value: unknown, field: string): TokenDomain {
  return readObject(value, field, {
    name: readText,
    version: readText,
    chainId: readChainId,
    verifyingContract: readAddress,
  })
}
