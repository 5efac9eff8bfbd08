import type { Address, Hex } from 'viem'
import { checkMembers } from './checkMembers.js'
import {
  type FieldRule,
  InvalidFieldError,
  invalidSignature,
  shown,
} from './errors.js'
import type {
  Cancellation,
  Payment,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
} from './types.js'

/** Parses a value, or throws an error that names the field. */
export type ParseField<value> = (value: unknown, field: string) => value

const parser =
  <value>(
    rule: FieldRule,
    accepts: (value: unknown) => boolean,
    isShown = true,
  ): ParseField<value> =>
  (value, field) => {
    if (!accepts(value))
      throw new InvalidFieldError(field, isShown ? shown(value) : value, rule)
    return value as value
  }

const textParser = (
  form: RegExp,
  rule: FieldRule,
  isShown?: boolean,
): ParseField<string> =>
  parser(
    rule,
    (value) => typeof value === 'string' && form.test(value),
    isShown,
  )

const choiceParser = <value>(choices: readonly value[]): ParseField<value> =>
  parser(choices, (value) => choices.includes(value as value))

/**
 * Creates a parser of hex text of one form. Accepts upper and lower case and
 * returns lower case. Does not check the checksum of an address.
 */
const hexParser = (
  form: RegExp,
  rule: FieldRule,
  isShown?: boolean,
): ParseField<Hex> => {
  const parse = textParser(form, rule, isShown)
  return (value, field) => parse(value, field).toLowerCase() as Hex
}

export const parseAddress: ParseField<Address> = /* @__PURE__ */ hexParser(
  /^0x[\da-f]{40}$/i,
  'an address',
)

export const parseBytes32: ParseField<Hex> = /* @__PURE__ */ hexParser(
  /^0x[\da-f]{64}$/i,
  '0x and 64 hex digits',
)

const parseSignature = /* @__PURE__ */ hexParser(
  /^0x([\da-f]{2}){1,16384}$/i,
  'a signature in hex',
  false,
)

const parseText = /* @__PURE__ */ textParser(
  /^.{0,256}$/s,
  'a string of at most 256 characters',
)

const parsePrimaryType = /* @__PURE__ */ choiceParser<Payment['primaryType']>([
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
])

const parseCancelType = /* @__PURE__ */ parser<Cancellation['primaryType']>(
  'CancelAuthorization',
  (value) => value === 'CancelAuthorization',
)

export const parsePositiveInteger: ParseField<number> = /* @__PURE__ */ parser(
  'a positive integer',
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
)

const parseUint256 = /* @__PURE__ */ parser<bigint>(
  'a bigint from 0 to 2^256 - 1',
  (value) => typeof value === 'bigint' && !(value >> 256n),
)

const parseDigits = /* @__PURE__ */ textParser(
  /^(0|[1-9]\d{0,77})$/,
  "a decimal string such as '1250000'",
)

type Shape = Record<string, ParseField<unknown>>
type Members<shape extends Shape> = {
  [key in keyof shape]: ReturnType<shape[key]>
}

/**
 * Creates a parser of objects. The object must have exactly the members of
 * `shape`.
 */
const objectParser = <shape extends Shape>(
  shape: shape,
): ParseField<Members<shape>> => {
  const parsers = Object.entries(shape)
  return (value, field) => {
    if (typeof value !== 'object' || !value || Array.isArray(value))
      throw new InvalidFieldError(field, value, 'an object')
    checkMembers<object>(value, shape, field)
    const members: Record<string, unknown> = {}
    for (const [key, parse] of parsers) {
      // Reads own members only: an inherited member was not in the input.
      const given = Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined
      const member = parse(given, `${field}.${key}`)
      if (member !== undefined) members[key] = member
    }
    return members as Members<shape>
  }
}

const parseDomain: ParseField<TokenDomain> = /* @__PURE__ */ objectParser({
  name: parseText,
  version: parseText,
  chainId: parsePositiveInteger,
  verifyingContract: parseAddress,
})

const optionalSignature = (value: unknown, field: string): Hex | undefined =>
  value === undefined ? value : parseSignature(value, field)

const paymentParser = (
  uint: ParseField<bigint>,
): ((value: unknown) => Payment | SignedPayment) => {
  const parse = objectParser({
    primaryType: parsePrimaryType,
    domain: parseDomain,
    message: objectParser({
      from: parseAddress,
      to: parseAddress,
      value: uint,
      validAfter: uint,
      validBefore: uint,
      nonce: parseBytes32,
    }),
    signature: optionalSignature as ParseField<never>,
  })
  return (value) => parse(value, 'payment')
}

/**
 * Parses a payment, signed or not. Throws an `InvalidFieldError` that names the
 * first malformed field.
 */
export const parsePayment: (value: unknown) => Payment | SignedPayment =
  /* @__PURE__ */ paymentParser(parseUint256)

/**
 * Parses a payment, signed or not, whose integers are decimal strings, as in
 * JSON.
 */
export const parseWrittenPayment: (value: unknown) => Payment | SignedPayment =
  /* @__PURE__ */ paymentParser((value, field) =>
    parseUint256(BigInt(parseDigits(value, field)), field),
  )

function requiredSignature(signed: object, field: string): Hex {
  const given = 'signature' in signed ? signed.signature : undefined
  if (given === undefined)
    throw invalidSignature(field, given, 'a signature in hex')
  return parseSignature(given, field)
}

export function parseSignedPayment(value: unknown): SignedPayment {
  return requireSignature(parsePayment(value))
}

/**
 * Parses the signature of an already parsed payment. Refuses a payment without
 * a signature.
 */
export function requireSignature<payment extends object>(
  payment: payment,
): payment & { signature: Hex } {
  return {
    ...payment,
    signature: requiredSignature(payment, 'payment.signature'),
  }
}

const parseAnyCancellation = /* @__PURE__ */ objectParser({
  primaryType: parseCancelType,
  domain: parseDomain,
  message: /* @__PURE__ */ objectParser({
    authorizer: parseAddress,
    nonce: parseBytes32,
  }),
  signature: optionalSignature as ParseField<never>,
})

export function parseCancellation(
  value: unknown,
): Cancellation | SignedCancellation {
  return parseAnyCancellation(value, 'cancellation')
}

export function parseSignedCancellation(value: unknown): SignedCancellation {
  const cancellation = parseCancellation(value)
  return {
    ...cancellation,
    signature: requiredSignature(cancellation, 'cancellation.signature'),
  }
}
