import { expect, test } from 'vitest'
import { checkMembers } from './checkMembers.js'

type Window = { from: bigint; to?: bigint | undefined }

const known = { from: true, to: true } as const

const check = (given: unknown) => () =>
  checkMembers<Window>(given as Window, known, 'window')

test('an object of known members passes, whatever they hold', () => {
  expect(check({ from: 1n })).not.toThrow()
  expect(check({ from: undefined, to: null })).not.toThrow()
  expect(check({})).not.toThrow()
})

test.each(['till', 'constructor', '__proto__', '0', ''])(
  'an unknown member %j is refused, and the known ones are listed',
  (name) => {
    const given = Object.defineProperty({ from: 1n }, name, {
      enumerable: true,
      value: undefined,
    })
    expect(check(given)).toThrow(
      `window must be an object with only the members from, to, not ${JSON.stringify(name)}.`,
    )
  },
)

test('the name of an unknown member is cut before it could hold a signature', () => {
  expect(check({ [`0x${'5e'.repeat(65)}`]: 1 })).toThrow(
    'window must be an object with only the members from, to, not "0x5e5e5e5e5e…".',
  )
})

test('what is no object is left to the readers of its members', () => {
  for (const given of [undefined, null, 'text', 7])
    expect(check(given)).not.toThrow()
})
