import fc from 'fast-check'
import { keccak256 } from 'viem'
import { expect, test } from 'vitest'
import { hashText } from './hashText.js'
import { hashTextBy } from './keccak.js'

test('a text has the same hash by the function of a caller', () => {
  let calls = 0
  const own = (data: Uint8Array) => {
    calls++
    return keccak256(data, 'bytes')
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(hashTextBy(text, own)).toBe(hashText(text))
      expect(hashTextBy(text)).toBe(hashText(text))
    }),
  )
  expect(calls).toBeGreaterThan(0)
})
