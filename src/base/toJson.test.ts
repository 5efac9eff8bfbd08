import { expect, test } from 'vitest'
import { toJson } from './toJson.js'

test('integers of any size are decimal strings, the rest is JSON', () => {
  const value = { a: 2n ** 255n, b: [-1n, 2, 'x'], c: undefined, d: null }
  expect(JSON.parse(toJson(value))).toEqual({
    a: (2n ** 255n).toString(),
    b: ['-1', 2, 'x'],
    d: null,
  })
})
