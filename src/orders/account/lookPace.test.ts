import { expect, test } from 'vitest'
import { openLookPace } from './lookPace.js'

/**
 * Shows blocks with these times one after the other. Returns for each whether
 * it was trusted.
 */
function believed(times: readonly bigint[]): boolean[] {
  const pace = openLookPace()
  return times.map((timestamp) =>
    pace.believeHead({ number: 1n, timestamp }, 100n),
  )
}

test('a head far ahead of the last one is believed at the third look', () => {
  expect(believed([100n, 9000n, 9001n, 9002n, 9003n])).toEqual([
    true,
    false,
    false,
    true,
    true,
  ])
})

test('the first look is compared with the clock of this machine', () => {
  expect(believed([9000n, 101n])).toEqual([false, true])
})

test('a head is far behind only if it is older than the last one and this machine', () => {
  const pace = openLookPace()
  const isOld = (timestamp: bigint, now: bigint) =>
    pace.isFarBehind({ number: 1n, timestamp }, now)
  expect(isOld(100n, 9000n)).toBe(false)
  pace.believeHead({ number: 1n, timestamp: 9000n }, 9000n)
  expect(isOld(8399n, 9000n)).toBe(true)
  expect(isOld(8400n, 9000n)).toBe(false)
  // A chain whose clock was ahead, and is right again.
  expect(isOld(100n, 110n)).toBe(false)
})

test('a head is also far behind if it is older than a block that the database has seen', () => {
  const pace = openLookPace()
  const isOld = (timestamp: bigint, now: bigint) =>
    pace.isFarBehind({ number: 1n, timestamp }, now, 9000)
  expect(isOld(8399n, 9000n)).toBe(true)
  expect(isOld(8400n, 9000n)).toBe(false)
  expect(isOld(100n, 110n)).toBe(false)
  // A later block that we trust counts instead.
  pace.believeHead({ number: 1n, timestamp: 9500n }, 9500n)
  expect(isOld(8899n, 9500n)).toBe(true)
})

test('one look far ahead changes nothing', () => {
  expect(believed([100n, 9000n, 102n, 9000n, 104n])).toEqual([
    true,
    false,
    true,
    false,
    true,
  ])
})

test('the wait of the lowest nonce begins again with the block of a replacement', () => {
  const pace = openLookPace()
  pace.watchLowest(5, 100n)
  pace.restartWait(120n)
  pace.watchLowest(5, 144n)
  expect(pace.waitsSince(5)).toBe(120n)
  pace.watchLowest(6, 156n)
  expect(pace.waitsSince(6)).toBe(156n)
})
