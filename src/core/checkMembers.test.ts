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

test('a list of the names says the same as an object that has them', () => {
  const window: Window = { from: 1n }
  expect(() => checkMembers(window, ['from', 'to'])).not.toThrow()
  expect(() =>
    checkMembers({ ...window, till: 2n } as Window, ['from', 'to'], 'window'),
  ).toThrow(
    'window must be an object with only the members from, to, not "till".',
  )
})

test('the compiler reports a name that is missing or unknown', () => {
  const window: Window = { from: 1n }
  const checks = () => {
    // @ts-expect-error `to` is missing
    checkMembers(window, ['from'])
    // @ts-expect-error the type has no `till`
    checkMembers(window, ['from', 'to', 'till'])
    // @ts-expect-error `to` is missing
    checkMembers(window, { from: true })
    // @ts-expect-error a union needs the names of all its types
    checkMembers(window as Window | { until: bigint }, ['from', 'to'])
  }
  expect(checks).not.toThrow()
})

test('what is no object is left to the readers of its members', () => {
  for (const given of [undefined, null, 'text', 7])
    expect(check(given)).not.toThrow()
})
