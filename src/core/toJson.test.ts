import { expect, onTestFinished, test } from 'vitest'
import { toJson } from './toJson.js'

test('integers of any size are decimal strings, the rest is JSON', () => {
  const value = { a: 2n ** 255n, b: [-1n, 2, 'x'], c: undefined, d: null }
  expect(JSON.parse(toJson(value))).toEqual({
    a: (2n ** 255n).toString(),
    b: ['-1', 2, 'x'],
    d: null,
  })
})

/**
 * `BigInt.prototype.toJSON` functions that some pages define, so that
 * `JSON.stringify` accepts a `bigint`.
 */
const polyfills: Readonly<Record<string, (this: bigint) => unknown>> = {
  'a number': () => 1,
  'an object, as MDN shows it': () => ({ $bigint: '1' }),
  'a literal': () => '1n',
}

test.each(Object.keys(polyfills))(
  'a page on which bigints become %s changes nothing',
  (kind) => {
    const toJSON = polyfills[kind]
    Object.defineProperty(BigInt.prototype, 'toJSON', {
      configurable: true,
      value: toJSON,
    })
    onTestFinished(() => {
      Reflect.deleteProperty(BigInt.prototype, 'toJSON')
    })
    const value = { a: 2n ** 64n + 1n, b: [{ c: -1n }], d: new Date(0) }
    expect(toJson(value)).toBe(
      '{"a":"18446744073709551617","b":[{"c":"-1"}],"d":"1970-01-01T00:00:00.000Z"}',
    )
    expect(toJson(7n)).toBe('"7"')
  },
)
