import { expect, test } from 'vitest'
import { parseMetadata } from './parseMetadata.js'

test('plain JSON is copied as it is', () => {
  const given = { goods: ['tea', 2, { organic: true }], note: null, n: -1.5e9 }
  const kept = parseMetadata(given)
  expect(kept).toEqual(given)
  expect(kept).not.toBe(given)
  expect(parseMetadata(undefined)).toEqual({})
})

const deep = (levels: number): object =>
  levels ? { in: deep(levels - 1) } : {}
const circle: Record<string, unknown> = {}
circle.self = circle

test.each<[string, unknown]>([
  ['null', null],
  ['text', 'text'],
  ['a list', [1]],
  ['a bigint', { n: 1n }],
  ['no number', { n: Number.NaN }],
  ['an endless number', { n: Number.POSITIVE_INFINITY }],
  ['undefined', { n: undefined }],
  ['a function', { n: () => 1 }],
  ['a date', { n: new Date(0) }],
  ['a map', new Map()],
  ['a NUL', { n: 'a\0b' }],
  ['a NUL in a name', { 'a\0b': 1 }],
  ['half a pair', { n: '\udc00' }],
  ['a circle', circle],
  ['too many levels', deep(17)],
])('%s is refused', (_, value) => {
  expect(() => parseMetadata(value)).toThrow('metadata must be an object')
})

test('16 levels are kept', () => {
  expect(parseMetadata(deep(16))).toEqual(deep(16))
})

test('8192 bytes are kept, and not one more', () => {
  // `é` is two bytes in UTF-8, but one character in a string: the limit counts
  // bytes.
  const text = 'é'.repeat((8_192 - '{"t":""}'.length) / 2)
  expect(parseMetadata({ t: text })).toEqual({ t: text })
  expect(() => parseMetadata({ t: `${text}x` })).toThrow(
    'metadata must be at most 8192 bytes of JSON, not 8193 (number).',
  )
})
