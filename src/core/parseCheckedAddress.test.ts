import { expect, test } from 'vitest'
import { parseCheckedAddress } from './parseCheckedAddress.js'

const right = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

test('an address is taken with its checksum or without, and given in lower case', () => {
  for (const given of [right, right.toLowerCase()])
    expect(parseCheckedAddress(given, 'token')).toBe(right.toLowerCase())
})

test('an address whose checksum is wrong is said to have a wrong checksum', () => {
  const mistyped = right.replace('fCD6', 'fcD6')
  expect(() => parseCheckedAddress(mistyped, 'token')).toThrow(
    `token must be an address with a right checksum, or all in lower case, not "${mistyped}".`,
  )
})

test.each(['0x12', '', 7, undefined, null, [right]])(
  '%j is no address',
  (given) => {
    expect(() => parseCheckedAddress(given, 'token')).toThrow(
      'token must be an address, not',
    )
  },
)
