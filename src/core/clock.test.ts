import { afterEach, expect, test, vi } from 'vitest'
import { checkClock, wallTime } from './clock.js'
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
