import { expect, test } from 'vitest'
import { canonicalJson } from './canonicalJson.js'

test('the order of members is no difference, that of a list is', () => {
  const one = canonicalJson({ a: [1, { x: 1, y: 2 }], b: null })
  expect(canonicalJson({ b: null, a: [1, { y: 2, x: 1 }] })).toBe(one)
  expect(canonicalJson({ b: null, a: [{ y: 2, x: 1 }, 1] })).not.toBe(one)
})
