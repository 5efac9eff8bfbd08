import { expect, test } from 'vitest'
import {
  ClockSkewError,
  InvalidAmountError,
  InvalidFieldError,
  invalidSignature,
  shown,
} from './errors.js'

const said = (given: unknown, field = 'field') =>
  new InvalidFieldError(field, given, 'other').message

test.each<[unknown, string]>([
  ['text', '"text"'],
  ['', '""'],
  ['1', '"1"'],
  [1, '1 (number)'],
  [Number.NaN, 'NaN (number)'],
  [12n, '12 (bigint)'],
  [true, 'true (boolean)'],
  [Symbol('x'), 'Symbol(x) (symbol)'],
  [undefined, 'undefined'],
  [null, 'null'],
  [{ secret: 1 }, 'an object'],
  [[1], 'a list of 1'],
  [[], 'a list of 0'],
  [() => 1, 'an object'],
  [2n ** 200n, '160693804425… (bigint)'],
])('%o is shown with its type', (given, text) => {
  expect(said(shown(given))).toBe(`field must be other, not ${text}.`)
})

test.each<[unknown, string]>([
  ['text', 'a string'],
  ['', 'a string'],
  [1, 'a number'],
  [12n, 'a bigint'],
  [true, 'a boolean'],
  [Symbol('x'), 'a symbol'],
  [undefined, 'undefined'],
  [null, 'null'],
  [{ secret: 1 }, 'an object'],
  [{}, 'an object'],
  [new Map(), 'an object'],
  [[1], 'a list of 1'],
  [() => 1, 'an object'],
])('of %o only its type is said where no call site shows it', (given, text) => {
  expect(said(given)).toBe(`field must be other, not ${text}.`)
})

test.each(['design', 'curl', 'websockets', 'signal'])(
  'no value is hidden for the name of its field: %s',
  (field) => {
    expect(said(shown('text'), field)).toBe(
      `${field} must be other, not "text".`,
    )
    expect(said(undefined, field)).toBe(
      `${field} must be other, not undefined.`,
    )
  },
)

test('an amount that is a number is said to be one', () => {
  expect(new InvalidAmountError(1, 'a decimal').message).toBe(
    'Amount must be a decimal, not 1 (number).',
  )
})

test.each(['seal.keys', 'buyerToken', 'Authorization', 'signature'])(
  'the value of %s is hidden, since nothing shows it',
  (field) => {
    const error = new InvalidFieldError(field, '0x5ec2e7', 'other')
    expect(error.message).toBe(`${field} must be other, not a string.`)
    expect(error.details).toEqual({
      field,
      value: 'a string',
      expected: 'other',
    })
  },
)

test('a signature is never shown, and one that is missing is said to be', () => {
  const of = (given: unknown) =>
    invalidSignature('signature', given, 'in hex').message
  expect(of('0x5ec2e7')).toBe('signature must be in hex, not a string.')
  expect(of(undefined)).toBe(
    'signature must be in hex, not undefined. It is not signed.',
  )
})

test('a skewed clock says both ways how to exempt a chain of your own', () => {
  const behind = new ClockSkewError({ chain: 1n, wall: 1_000n }).message
  const ahead = new ClockSkewError({ chain: 1_000n, wall: 1n }).message
  for (const message of [behind, ahead])
    for (const words of ["policy.chainClock to 'own'", 'as now', '31337'])
      expect(message).toContain(words)
  expect(behind).toContain('mine a block')
  expect(ahead).not.toContain('mine')
})
