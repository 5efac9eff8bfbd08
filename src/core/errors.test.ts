import { expect, test } from 'vitest'
import {
  ClockSkewError,
  InvalidAmountError,
  InvalidFieldError,
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
])('%o is shown with its type', (given, shown) => {
  expect(said(given)).toBe(`field must be other, not ${shown}.`)
})

test('an amount that is a number is said to be one', () => {
  expect(new InvalidAmountError(1, 'a decimal').message).toBe(
    'Amount must be a decimal, not 1 (number).',
  )
})

test.each(['signature', 'payment.signature', 'signedPayment'])(
  'of a %s only its type is shown',
  (field) => {
    expect(said('0x5ec2e7', field)).toBe(
      `${field} must be other, not a string.`,
    )
    expect(said(2n ** 200n, field)).toBe(
      `${field} must be other, not a bigint.`,
    )
    expect(said({ r: 1 }, field)).toBe(`${field} must be other, not an object.`)
    expect(said(null, field)).toBe(`${field} must be other, not null.`)
  },
)

test('a signature that is missing is said to be missing', () => {
  expect(said(undefined, 'payment.signature')).toBe(
    'payment.signature is missing: this is not signed.',
  )
})

test('a chain that is behind the machine may only be idle, and the error says so', () => {
  const { message } = new ClockSkewError({ chain: 1n, wall: 1_000n })
  expect(message).toContain('mine a block')
  expect(message).toContain('31337')
  const ahead = new ClockSkewError({ chain: 1_000n, wall: 1n })
  expect(ahead.message).not.toContain('mine')
})
