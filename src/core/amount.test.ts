import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, uint256 } from '../../test/unit/support/arbitraries.js'
import { formatAmount, parseAmount } from './amount.js'
import { InvalidAmountError } from './errors.js'

const max = 2n ** 256n - 1n
const tiny = `0.${'0'.repeat(254)}1`

test.each([
  ['12.50', 6, 12_500_000n],
  ['12.5', 6, 12_500_000n],
  ['0.000001', 6, 1n],
  ['1', 0, 1n],
  ['1', 18, 10n ** 18n],
  ['0.000000000000000001', 18, 1n],
  [tiny, 255, 1n],
  [max.toString(), 0, max],
])('%s of a token with %s decimals is %s units', (amount, decimals, units) => {
  expect(parseAmount(amount, decimals)).toBe(units)
})

test('an amount has six decimals unless told otherwise', () => {
  expect(parseAmount('12.50')).toBe(12_500_000n)
  expect(formatAmount(12_500_000n)).toBe('12.5')
})

test.each([
  [12_500_000n, 6, '12.5'],
  [1n, 6, '0.000001'],
  [0n, 6, '0'],
  [10n ** 6n, 6, '1'],
  [10n, 0, '10'],
  [1n, 255, tiny],
  [max, 0, max.toString()],
])('%s units of a token with %s decimals are %s', (units, decimals, amount) => {
  expect(formatAmount(units, decimals)).toBe(amount)
})

test.each([
  ['', 'nothing'],
  [' 1', 'a space before'],
  ['1 ', 'a space after'],
  ['1\n', 'a line end'],
  ['+1', 'a plus'],
  ['-1', 'a minus'],
  ['1e3', 'an exponent'],
  ['1E3', 'an exponent'],
  ['1,000', 'a separator'],
  ['1_000', 'a separator'],
  ["1'000", 'a separator'],
  ['12,5', 'a decimal comma'],
  ['.5', 'no whole part'],
  ['5.', 'no fraction'],
  ['.', 'a point alone'],
  ['1.2.3', 'two points'],
  ['01', 'a leading zero'],
  ['00.5', 'leading zeros'],
  ['0x10', 'hex'],
  ['1n', 'a suffix'],
  ['١٢', 'Arabic digits'],
  ['１２', 'full-width digits'],
  ['1．5', 'a full-width point'],
  ['NaN', 'no number'],
  ['Infinity', 'no end'],
  ['0', 'zero'],
  ['0.000000', 'zero with a fraction'],
  ['0.0000001', 'too many fraction digits'],
  ['1.0000000', 'too many fraction digits, even zeros'],
  ['1'.repeat(79), 'too many digits'],
])('the amount %j is refused: %s', (amount) => {
  expect(() => parseAmount(amount, 6)).toThrow(InvalidAmountError)
})

test.each([12.5, 12, 12n, null, undefined, {}, ['12.5'], Object('12.5')])(
  '%o is no amount',
  (amount) => {
    expect(() => parseAmount(amount as string)).toThrow(InvalidAmountError)
  },
)

test('the largest amount is 2^256 - 1 units', () => {
  const [whole, fraction] = [max.toString().slice(0, -6), '639935']
  expect(parseAmount(`${whole}.${fraction}`, 6)).toBe(max)
  expect(() => parseAmount(`${whole}.639936`, 6)).toThrow(InvalidAmountError)
  expect(() => parseAmount((max + 1n).toString(), 0)).toThrow(
    InvalidAmountError,
  )
})

test.each([-1n, max + 1n, 12 as unknown as bigint, '12' as unknown as bigint])(
  '%o units are not formatted',
  (units) => {
    expect(() => formatAmount(units)).toThrow(InvalidAmountError)
  },
)

test.each([
  -1,
  256,
  1.5,
  Number.NaN,
  '6' as unknown as number,
  6n as unknown as number,
])('%o is no number of decimals', (decimals) => {
  expect(() => parseAmount('1', decimals)).toThrow(InvalidAmountError)
  expect(() => formatAmount(1n, decimals)).toThrow(InvalidAmountError)
})

test('the error carries the amount and what is wrong with it', () => {
  expect(() => parseAmount('1e3')).toThrow(
    expect.objectContaining({
      name: 'InvalidAmountError',
      retryable: false,
      message: expect.stringContaining('1e3'),
      details: expect.objectContaining({
        amount: expect.stringContaining('1e3'),
      }),
    }),
  )
})

const units = uint256().filter((value) => value > 0n)
const decimals = fc.oneof(
  fc.constantFrom(0, 6, 18, 255),
  fc.integer({ min: 0, max: 255 }),
)

test('what is formatted parses back to the same units', () => {
  fc.assert(
    fc.property(units, decimals, (value, scale) => {
      expect(parseAmount(formatAmount(value, scale), scale)).toBe(value)
    }),
    runs(2_000),
  )
})

test('digits are kept as they are: nothing is rounded', () => {
  const digits = fc.stringMatching(/^[0-9]{1,30}$/)
  const whole = fc.stringMatching(/^(0|[1-9][0-9]{0,30})$/)
  fc.assert(
    fc.property(whole, digits, decimals, (left, right, scale) => {
      fc.pre(right.length <= scale && BigInt(left + right) > 0n)
      fc.pre(scale + left.length <= 77)
      const value = parseAmount(`${left}.${right}`, scale)
      const zeros = 10n ** BigInt(scale - right.length)
      expect(value).toBe(BigInt(left + right) * zeros)
    }),
    runs(1_000),
  )
})

test('one fraction digit too many is refused, whatever it is', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(30), fc.nat(9), (left, scale, last) => {
      const amount = `${left}.${'1'.repeat(scale)}${last}`
      expect(() => parseAmount(amount, scale)).toThrow(InvalidAmountError)
    }),
    runs(500),
  )
})

test('any text is refused or is what the grammar says', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'0123456789.,-+eE _') }),
  )
  fc.assert(
    fc.property(text, (amount) => {
      let value: bigint
      try {
        value = parseAmount(amount, 6)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidAmountError)
        return
      }
      const [whole = '', fraction = ''] = amount.split('.')
      expect(`${whole}${fraction}`).toMatch(/^[0-9]+$/)
      expect(value).toBe(BigInt(whole + fraction.padEnd(6, '0')))
    }),
    runs(3_000),
  )
})
