import { afterEach, expect, test, vi } from 'vitest'
import {
  checkClock,
  checkUnit,
  parsePeriod,
  parseTime,
  wallTime,
} from './clock.js'
import { ClockSkewError } from './errors.js'

afterEach(() => {
  vi.useRealTimers()
})

test('the wall clock gives whole Unix seconds, rounded down', () => {
  vi.useFakeTimers({ now: 1_750_000_000_999 })
  expect(wallTime()).toBe(1_750_000_000n)
})

const now = 1_750_000_000n

test.each([-120n, 0n, 120n])('a head %s seconds off is fine', (difference) => {
  const head = { timestamp: now + difference, chainId: 8453 }
  expect(checkClock(head, now)).toBeUndefined()
})

test.each([-1_000_000n, -121n, 121n, 1_000_000n])(
  'a head %s seconds off is an error that names both clocks',
  (difference) => {
    const head = { timestamp: now + difference, chainId: 8453 }
    expect(() => checkClock(head, now)).toThrow(
      expect.objectContaining({
        name: 'ClockSkewError',
        retryable: true,
        details: { chain: now + difference, wall: now },
      }),
    )
  },
)

test.each([31337, 1337])(
  'the clock of development chain %s may be anywhere',
  (chainId) => {
    expect(checkClock({ timestamp: 1n, chainId }, now)).toBeUndefined()
  },
)

test('a chain whose id resembles a development chain is not exempt', () => {
  const head = { timestamp: 1n, chainId: 313370 }
  expect(() => checkClock(head, now)).toThrow(ClockSkewError)
})

test.each([10n ** 11n, 1_750_000_000_000n, 10n ** 14n - 1n])(
  'the time %s is in milliseconds, and refused by name',
  (time) => {
    const message = `start must be Unix seconds (this looks like milliseconds), not ${time} (bigint).`
    expect(() => parseTime(time, 'start')).toThrow(message)
  },
)

test.each([
  0n,
  1_750_000_000n,
  10n ** 11n - 1n,
  2n ** 48n - 1n,
  2n ** 256n - 1n,
])('the time %s is in seconds, or stands for never', (time) => {
  expect(parseTime(time, 'start')).toBe(time)
  expect(checkUnit(time, 'start')).toBeUndefined()
})

test('a period of a day in milliseconds is refused by name, one of years is not', () => {
  expect(() => parsePeriod(86_400_000n, 'period')).toThrow(
    'period must be less than 86400000 seconds (1,000 days), and not milliseconds',
  )
  expect(parsePeriod(2n * 365n * 86_400n, 'period')).toBe(63_072_000n)
  expect(parsePeriod(2n ** 48n - 1n, 'period')).toBe(2n ** 48n - 1n)
})
