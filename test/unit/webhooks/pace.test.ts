import { expect, test } from 'vitest'
import { targetPace } from '../../../src/webhooks/targetPace.js'

/** Each pause as long as its number of failures, in hours. */
const startPace = () => {
  const pace = targetPace(
    (failures, retryAfter = 0) => Math.max(failures * 3_600_000, retryAfter),
    8,
  )
  const fail = (tries: number, startedAt = performance.now()) =>
    pace.failed({ type: 'captured', tries, startedAt })
  const hours = () =>
    Math.round(Math.max(0, pace.until() - performance.now()) / 3_600_000)
  return { pace, fail, hours }
}

test('a target slows down with each further event that fails', () => {
  const { pace, fail, hours } = startPace()
  const seen = [[pace.width(), hours()]]
  for (let event = 0; event < 3; event++) {
    fail(1)
    seen.push([pace.width(), hours()])
  }
  expect(seen).toEqual([
    [8, 0],
    [1, 0],
    [1, 1],
    [1, 2],
  ])
  pace.succeeded()
  expect(pace.width()).toBe(8)
})

test('one event that fails again and again slows nobody down', () => {
  const { pace, fail, hours } = startPace()
  fail(1)
  for (let tries = 2; tries < 9; tries++) fail(tries)
  expect(hours()).toBe(0)
  pace.succeeded()
  fail(9)
  expect(pace.width()).toBe(8)
})

test.each([
  [400, 1],
  [422, 1],
  [500, 1],
  [429, 3],
  [502, 3],
  [503, 3],
  [undefined, 3],
])('four events refused with %s are a pause of %i hours', (status, pause) => {
  const { pace, hours } = startPace()
  for (let event = 0; event < 4; event++) {
    const startedAt = performance.now()
    pace.failed({ type: 'captured', tries: 1, startedAt, status })
  }
  expect(hours()).toBe(pause)
})

test('what was under way together counts once', () => {
  const { pace, fail, hours } = startPace()
  const startedAt = performance.now() - 1
  for (let order = 0; order < 8; order++) fail(1, startedAt)
  expect([pace.width(), hours()]).toEqual([1, 0])
})

test('a target that asks for a pause gets it, whatever fails', () => {
  const { pace, hours } = startPace()
  const startedAt = performance.now()
  pace.failed({
    type: 'captured',
    tries: 7,
    startedAt,
    retryAfter: 5 * 3_600_000,
  })
  expect(hours()).toBe(5)
})
