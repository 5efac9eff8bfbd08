import type { Address, Hex } from 'viem'
import { checkMembers } from './checkMembers.js'
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

/** A reader of what `accepts` says yes to. */
const reader =
  <value>(
    expected: string,
    accepts: (value: unknown) => boolean,
  ): ReadField<value> =>
  (value, field) => {
    if (!accepts(value)) throw new InvalidFieldError(field, value, expected)
    return value as value
  }

const textReader = <text extends string>(form: RegExp): ReadField<text> =>
  reader(
    `text like ${form}`,
    (value) => typeof value === 'string' && form.test(value),
  )

/** Takes any letter case and gives lower case: one spelling, no checksum. */
const hexReader = (form: RegExp): ReadField<Hex> => {
  const read = textReader(form)
  return (value, field) => read(value, field).toLowerCase() as Hex
}

export const parseAddress: ReadField<Address> =
  /* @__PURE__ */ hexReader(/^0x[\da-f]{40}$/i)

export const parseBytes32: ReadField<Hex> =
  /* @__PURE__ */ hexReader(/^0x[\da-f]{64}$/i)

const parseSignature = /* @__PURE__ */ hexReader(/^0x([\da-f]{2}){1,16384}$/i)

const parseText = /* @__PURE__ */ textReader(/^.{0,256}$/s)

const parsePrimaryType = /* @__PURE__ */ textReader<Payment['primaryType']>(
  /^(Receive|Transfer)WithAuthorization$/,
)

const parseCancelType = /* @__PURE__ */ textReader<Cancellation['primaryType']>(
  /^CancelAuthorization$/,
)

export const readPositiveInteger: ReadField<number> = /* @__PURE__ */ reader(
  'a positive integer',
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
)

const parseUint256 = /* @__PURE__ */ reader<bigint>(
  'an unsigned 256-bit bigint',
  (value) => typeof value === 'bigint' && !(value >> 256n),
)

const parseDigits = /* @__PURE__ */ textReader(/^(0|[1-9]\d{0,77})$/)

type Shape = Record<string, ReadField<unknown>>
type Members<shape extends Shape> = {
  [key in keyof shape]: ReturnType<shape[key]>
}

/** A reader of an object with exactly the members of `shape`. */
const objectReader =
  <shape extends Shape>(shape: shape): ReadField<Members<shape>> =>
  (value, field) => {
    if (typeof value !== 'object' || !value || Array.isArray(value))
      throw new InvalidFieldError(field, value, 'an object')
    checkMembers<object>(value, shape, field)
    const members: Record<string, unknown> = {}
    for (const [key, read] of Object.entries(shape)) {
      // Inherited members were not in the input.
      const given = Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined
      const member = read(given, `${field}.${key}`)
      if (member !== undefined) members[key] = member
    }
    return members as Members<shape>
  }

const readDomain: ReadField<TokenDomain> = /* @__PURE__ */ objectReader({
  name: parseText,
  version: parseText,
  chainId: readPositiveInteger,
  verifyingContract: parseAddress,
})

const optionalSignature = (value: unknown, field: string): Hex | undefined =>
  value === undefined ? value : parseSignature(value, field)

const paymentReader = (
  uint: ReadField<bigint>,
): ((value: unknown) => Payment | SignedPayment) => {
  const read = objectReader({
    primaryType: parsePrimaryType,
    domain: readDomain,
    message: objectReader({
      from: parseAddress,
      to: parseAddress,
      value: uint,
      validAfter: uint,
      validBefore: uint,
      nonce: parseBytes32,
    }),
    signature: optionalSignature as ReadField<never>,
  })
  return (value) => read(value, 'payment')
}

/** Reads a payment, signed or not. */
export const parsePayment: (value: unknown) => Payment | SignedPayment =
  /* @__PURE__ */ paymentReader(parseUint256)

/** Reads a payment, signed or not, with its integers as decimal strings. */
export const readWrittenPayment: (value: unknown) => Payment | SignedPayment =
  /* @__PURE__ */ paymentReader((value, field) =>
    parseUint256(BigInt(parseDigits(value, field)), field),
  )

const signatureOf = (read: object): unknown =>
  'signature' in read ? read.signature : undefined

/** Reads a payment that must be signed. */
export function parseSignedPayment(value: unknown): SignedPayment {
  const payment = parsePayment(value)
  return {
    ...payment,
    signature: parseSignature(signatureOf(payment), 'payment.signature'),
  }
}

const parseAnyCancellation = /* @__PURE__ */ objectReader({
  primaryType: parseCancelType,
  domain: readDomain,
  message: /* @__PURE__ */ objectReader({
    authorizer: parseAddress,
    nonce: parseBytes32,
  }),
  signature: optionalSignature as ReadField<never>,
})

/** Reads a cancellation, signed or not. */
export function parseCancellation(
  value: unknown,
): Cancellation | SignedCancellation {
  return parseAnyCancellation(value, 'cancellation')
}

/** Reads a cancellation that must be signed. */
export function parseSignedCancellation(value: unknown): SignedCancellation {
  const cancellation = parseCancellation(value)
  return {
    ...cancellation,
    signature: parseSignature(
      signatureOf(cancellation),
      'cancellation.signature',
    ),
  }
}
