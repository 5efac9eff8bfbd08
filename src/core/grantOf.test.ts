import { expect, test } from 'vitest'
import { grantOf } from './grantOf.js'

const keys: Record<string, { name: string }> = { known: { name: 'one' } }

const find = (given: unknown) => () =>
  grantOf(given as { name: string }, { name: true }, 'caller')

test('a plain object of known members is a grant', () => {
  expect(find(keys.known)()).toBe(keys.known)
  const bare = Object.assign(Object.create(null), { name: 'one' })
  expect(find(bare)()).toBe(bare)
})

test.each([
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__proto__',
  '__defineGetter__',
  'unknown',
])('what every object has as %s grants nothing', (key) => {
  expect(find(keys[key])()).toBeUndefined()
})

test.each([undefined, null, false, 0, ''])('%j grants nothing', (given) => {
  expect(find(given)()).toBeUndefined()
})

test.each([
  ['text', 'not a string'],
  [true, 'not a boolean'],
  [[{ name: 'one' }], 'not a list of 1'],
  [new Map([['name', 'one']]), 'not an object'],
  [Object.create({ name: 'one' }), 'not an object'],
])('%j is refused, because it is no plain object', (given, found) => {
  expect(find(given)).toThrow(`caller must be a plain object, ${found}.`)
})

test('an unknown member is refused', () => {
  expect(find({ name: 'one', nam: 'two' })).toThrow(
    'caller must be an object with only the members name, not "nam".',
  )
})
