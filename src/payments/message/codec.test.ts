import fc from 'fast-check'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import {
  payment,
  runs,
  signature,
  thrownBy,
} from '../../../test/unit/support/arbitraries.js'
import { CountersignError } from '../../core/CountersignError.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { Payment } from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { decodePayment, encodePayment } from './codec.js'

const secret: Hex = `0x${'5ec2e7'.repeat(21)}0a1b1b`
const signed = { ...samplePayment(), signature: secret }

/** Returns the parsed text of the signed sample, with one member replaced. */
function altered(path: string, value: unknown): Record<string, unknown> {
  const root = JSON.parse(encodePayment(signed))
  const keys = path.split('.').slice(1)
  const last = keys.pop() ?? ''
  let at = root
  for (const key of keys) at = at[key]
  if (value === undefined) delete at[last]
  else Object.defineProperty(at, last, { value, enumerable: true })
  return root
}

function everythingOf(error: unknown): string {
  const { message, stack, cause, details } = error as CountersignError
  return `${message} ${stack} ${cause} ${JSON.stringify(details)}`.toLowerCase()
}

test('an unsigned payment is written with its integers as decimal text', () => {
  expect(JSON.parse(encodePayment(samplePayment()))).toEqual({
    primaryType: 'ReceiveWithAuthorization',
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    },
    message: {
      from: '0x1111111111111111111111111111111111111111',
      to: '0x2222222222222222222222222222222222222222',
      value: '12500000',
      validAfter: '1750000000',
      validBefore: '1750000960',
      nonce: `0x${'3'.repeat(64)}`,
    },
  })
})

test('an unsigned payment comes back as it was', () => {
  fc.assert(
    fc.property(payment(), (given) => {
      const text = encodePayment(given)
      expect(decodePayment(text)).toEqual(given)
      expect(decodePayment(JSON.parse(text))).toEqual(given)
    }),
    runs(500),
  )
})

test('a signed payment comes back as it was', () => {
  fc.assert(
    fc.property(payment(), signature(), (unsigned, bytes) => {
      const given = { ...unsigned, signature: bytes }
      expect(decodePayment(encodePayment(given))).toEqual(given)
    }),
    runs(500),
  )
})

test('the text of a payment does not depend on the order of its members', () => {
  const { primaryType, domain, message } = samplePayment()
  const shuffled = { message, domain, primaryType }
  expect(encodePayment(shuffled)).toBe(encodePayment(samplePayment()))
})

test('upper-case hex becomes lower case', () => {
  const text = encodePayment(signed).replace(/"0x(\w+)"/g, (_, digits) => {
    return `"0x${digits.toUpperCase()}"`
  })
  expect(text).toContain('0X'.toLowerCase() + secret.slice(2).toUpperCase())
  expect(decodePayment(text)).toEqual(signed)
})

test('a payment made from another cannot change it', () => {
  const given = samplePayment()
  const made = decodePayment(encodePayment(given))
  made.message.value = 1n
  expect(given).toEqual(samplePayment())
})

const address = `0x${'1'.repeat(40)}`
const tooBig = (2n ** 256n).toString()
const noObjects = ['', 'x', 1, true, null, [], [{}]]
const noAddresses = [
  undefined,
  null,
  1,
  '',
  address.slice(2),
  address.slice(0, -1),
  `${address}1`,
  `${address} `,
  `${address}\n`,
  ` ${address}`,
  `0x${'g'.repeat(40)}`,
  [address],
  { toString: address },
]
const noIntegers = [
  undefined,
  null,
  0,
  1,
  1.5,
  true,
  '',
  '-1',
  '+1',
  '01',
  '1.0',
  '1e3',
  '0x10',
  ' 1',
  '1\n',
  '1_000',
  '１',
  tooBig,
  '9'.repeat(79),
  ['1'],
  {},
]
const noBytes32 = [
  undefined,
  null,
  1,
  '0x',
  `0x${'3'.repeat(62)}`,
  `0x${'3'.repeat(63)}`,
  `0x${'3'.repeat(65)}`,
  `0x${'3'.repeat(66)}`,
  '3'.repeat(64),
  `0x${'z'.repeat(64)}`,
  [`0x${'3'.repeat(64)}`],
]

const malformed: Record<string, readonly unknown[]> = {
  'payment.primaryType': [
    undefined,
    null,
    '',
    1,
    'Permit',
    'CancelAuthorization',
    'receiveWithAuthorization',
    'ReceiveWithAuthorization ',
    ['ReceiveWithAuthorization'],
    'toString',
  ],
  'payment.domain': [undefined, ...noObjects],
  'payment.domain.name': [undefined, null, 2, {}, ['USDC'], 'x'.repeat(257)],
  'payment.domain.version': [undefined, null, 2, {}, ['2'], 'x'.repeat(257)],
  'payment.domain.chainId': [
    undefined,
    null,
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    '8453',
    '0x2105',
    true,
    [8453],
    {},
    { valueOf: 1, toString: 1 },
  ],
  'payment.domain.verifyingContract': noAddresses,
  'payment.message': [undefined, ...noObjects],
  'payment.message.from': noAddresses,
  'payment.message.to': noAddresses,
  'payment.message.value': noIntegers,
  'payment.message.validAfter': noIntegers,
  'payment.message.validBefore': noIntegers,
  'payment.message.nonce': noBytes32,
  'payment.signature': [
    null,
    1,
    '',
    '0x',
    '0x1',
    '12'.repeat(65),
    `0x${'12'.repeat(65)}1`,
    `0x${'zz'.repeat(65)}`,
    `0x${'12'.repeat(16_385)}`,
    [secret],
    {},
  ],
}

test.each(
  Object.entries(malformed).flatMap(([field, values]) =>
    values.map((value) => [field, value] as const),
  ),
)('a %s of %j is an error that names it', (field, value) => {
  const given = altered(field, value)
  for (const input of [given, JSON.stringify(given)]) {
    const error = thrownBy(() => decodePayment(input))
    expect(error).toBeInstanceOf(InvalidFieldError)
    expect(error).toHaveProperty('details.field', field)
    expect(error).toHaveProperty('retryable', false)
  }
})

test('the error says what was found, in a few words', () => {
  const error = thrownBy(() =>
    decodePayment(altered('payment.message.value', '1.5')),
  )
  expect((error as Error).message).toContain('payment.message.value')
  expect((error as Error).message).toContain('1.5')
})

test.each([
  ['payment', 'payment.extra'],
  ['payment', 'payment.r'],
  ['payment', 'payment.constructor'],
  ['payment', 'payment.toString'],
  ['payment', 'payment.hasOwnProperty'],
  ['payment.domain', 'payment.domain.salt'],
  ['payment.domain', 'payment.domain.constructor'],
  ['payment.message', 'payment.message.amount'],
  ['payment.message', 'payment.message.valueOf'],
])('an unknown member is an error of %s: %s', (field, path) => {
  for (const value of ['1', null, {}]) {
    const error = thrownBy(() => decodePayment(altered(path, value)))
    expect(error).toBeInstanceOf(InvalidFieldError)
    expect(error).toHaveProperty('details.field', field)
    expect((error as Error).message).toContain(path.split('.').pop())
  }
})

test.each([
  ['payment', '{"__proto__":'],
  ['payment.domain', '"domain":{"__proto__":{},'],
  ['payment.message', '"message":{"__proto__":{},'],
])('a prototype given as a member of %s is refused', (field, start) => {
  const text = encodePayment(signed)
  const key = start.slice(0, start.indexOf('{') + 1)
  const tricked =
    field === 'payment' ? `${start}${text}}` : text.replace(key, start)
  const error = thrownBy(() => decodePayment(tricked))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})

test('decoding never writes to the prototype of all objects', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const text = `{"${name}":{"polluted":true}}`
    expect(() => decodePayment(text)).toThrow(InvalidFieldError)
  }
  expect(Object.keys(Object.prototype)).toEqual([])
  expect('polluted' in {}).toBe(false)
})

test.each([
  '',
  ' ',
  'null',
  '[]',
  '1',
  '"text"',
  'true',
  '{',
  '{"primaryType":}',
  '\u0000',
  `${encodePayment(signed)}x`,
  `[${encodePayment(signed)}]`,
  encodePayment(signed).slice(0, -1),
  encodePayment(signed).replaceAll('"', "'"),
])('the text %j is no payment', (text) => {
  const error = thrownBy(() => decodePayment(text))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', 'payment')
  expect(everythingOf(error)).not.toContain(secret.slice(2, 66))
})

test.each([
  undefined,
  null,
  1,
  1n,
  true,
  Symbol('payment'),
  () => signed,
  [],
  new Date(0),
  Object.create(null),
])('%o is no payment', (given) => {
  expect(() => decodePayment(given)).toThrow(InvalidFieldError)
})

test('any value at all is a payment or a typed error', () => {
  const everything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  })
  fc.assert(
    fc.property(fc.oneof(everything, fc.json(), fc.string()), (given) => {
      expect(() => decodePayment(given)).toThrow(InvalidFieldError)
    }),
    runs(1_000),
  )
})

test('huge text is refused before it is parsed', () => {
  const padded = `${encodePayment(signed)}${' '.repeat(70_000)}`
  expect(() => decodePayment(padded)).toThrow(InvalidFieldError)
  expect(() => decodePayment('['.repeat(10_000_000))).toThrow(InvalidFieldError)
})

test('deeply nested text is no crash', () => {
  expect(() => decodePayment('['.repeat(60_000))).toThrow(InvalidFieldError)
  const nested = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`
  expect(() => decodePayment(nested)).toThrow(InvalidFieldError)
})

test('a misplaced signature is not in the error, wherever it stands', () => {
  const places = Object.keys(malformed).filter(
    (path) => !/name|version/.test(path),
  )
  const forms = [
    secret,
    secret.slice(2),
    secret.slice(0, -2),
    `${secret}zz`,
    secret.slice(0, 65),
    secret.slice(2, 66),
  ]
  for (const path of places)
    for (const form of forms)
      for (const value of [form, { [form]: form }, [form]]) {
        const broken = { ...altered(path, value) }
        if (path === 'payment.signature') broken.domain = secret
        const error = thrownBy(() => decodePayment(broken))
        expect(error).toBeInstanceOf(CountersignError)
        expect(everythingOf(error)).not.toContain(secret.slice(12, 60))
        expect(everythingOf(error)).not.toContain(secret.slice(66, 120))
      }
})

test('a signature as the name of a member is not in the error', () => {
  for (const at of ['payment', 'payment.domain', 'payment.message']) {
    const error = thrownBy(() => decodePayment(altered(`${at}.${secret}`, 1)))
    expect(error).toHaveProperty('details.field', at)
    expect(everythingOf(error)).not.toContain(secret.slice(12, 66))
  }
})

test.each([
  ['payment.message.value', 'value', 12],
  ['payment.message.value', 'value', '12'],
  ['payment.message.value', 'value', -1n],
  ['payment.message.validAfter', 'validAfter', 1e9],
  ['payment.message.validBefore', 'validBefore', 2n ** 256n],
  ['payment.message.nonce', 'nonce', '0x12'],
  ['payment.message.to', 'to', undefined],
])('a malformed %s is not written', (field, member, value) => {
  const given = samplePayment({ [member]: value })
  const error = thrownBy(() => encodePayment(given))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})

test('nothing beyond a payment is written', () => {
  const given = { ...signed, secret: 'x' } as Payment
  expect(() => encodePayment(given)).toThrow(InvalidFieldError)
  expect(() => encodePayment(null as unknown as Payment)).toThrow(
    InvalidFieldError,
  )
})
