import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { InvalidFieldError } from '../core/errors.js'
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

function thrownBy(value: unknown): Error {
  try {
    parseMetadata(value)
  } catch (error) {
    return error as Error
  }
  throw new Error('taken')
}

const convert = 'Convert functions and instances of classes first.'
const text = 'text without NUL and lone surrogates'

test.each<[string, unknown, string]>([
  ['null', null, 'of plain JSON, not null.'],
  ['text', 'text', 'of plain JSON, not a string.'],
  ['a list', [1], 'of plain JSON, not a list of 1.'],
  ['a map', new Map(), `of plain JSON, not an object. ${convert}`],
  ['a bigint', { n: 1n }, 'whose n is plain JSON, not a bigint.'],
  [
    'a bigint in a list',
    { goods: [{ price: 5 }, { price: 1n }] },
    'whose goods[1].price is plain JSON, not a bigint.',
  ],
  [
    'no number',
    { n: Number.NaN },
    'whose n is a finite number, not NaN (number).',
  ],
  [
    'an endless number',
    { n: Number.NEGATIVE_INFINITY },
    'whose n is a finite number, not -Infinity (number).',
  ],
  ['undefined', { n: undefined }, 'whose n is plain JSON, not undefined.'],
  ['a hole', { n: Array(1) }, 'whose n[0] is plain JSON, not undefined.'],
  ['a symbol', { n: Symbol('n') }, 'whose n is plain JSON, not a symbol.'],
  [
    'a function',
    { n: () => 1 },
    `whose n is plain JSON, not an object. ${convert}`,
  ],
  [
    'a date',
    { n: new Date(0) },
    `whose n is plain JSON, not an object. ${convert}`,
  ],
  ['a NUL', { n: 'a\0b' }, String.raw`whose n is ${text}, not "\u0000".`],
  [
    'a NUL at the end of a long text',
    { in: { note: `${'a'.repeat(99)}\0` } },
    String.raw`whose in.note is ${text}, not "\u0000".`,
  ],
  [
    'half a pair',
    { n: ['🍵', '\udc00'] },
    String.raw`whose n[1] is ${text}, not "\udc00".`,
  ],
  [
    'a NUL in a name',
    { in: { 'a\0b': 1 } },
    String.raw`whose names are ${text}, not "\u0000".`,
  ],
  [
    'half a pair in a name',
    { '\ud83d': 1 },
    String.raw`whose names are ${text}, not "\ud83d".`,
  ],
  ['a circle', circle, 'of at most 16 levels, not 17 (number).'],
  ['too many levels', deep(17), 'of at most 16 levels, not 17 (number).'],
])('%s is refused by name', (_, value, words) => {
  const thrown = thrownBy(value)
  expect(thrown.message).toBe(`metadata must be an object ${words}`)
  expect(thrown).toBeInstanceOf(InvalidFieldError)
  expect(thrown).toHaveProperty('details.field', 'metadata')
})

test('what may be a secret is not shown', () => {
  const key = `0x${'5ec2e7'.repeat(11)}`
  for (const value of [{ [key]: 1n }, { n: `${key}\0` }, { [`${key}\0`]: 1 }])
    expect(inspect(thrownBy(value))).not.toContain('5ec2e75ec2e7')
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
