import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepTrying } from '../../examples/shop/web/api/keepTrying.js'
import { Problem, Unreachable } from '../../examples/shop/web/api/Problem.js'
import { followEvents } from '../../examples/shop/web/merchant/followEvents.js'
import { createMerchantApi } from '../../examples/shop/web/merchant/merchantApi.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a shop that does not answer is asked again every two seconds at least', async () => {
  const told: boolean[] = []
  const ask = vi.fn(async () => {
    if (told.length < 20) throw new Unreachable()
    return 'here'
  })
  const answer = keepTrying(ask, {
    onReachable: (isReachable) => told.push(isReachable),
  })
  await vi.advanceTimersByTimeAsync(20 * 2_000)

  expect(ask).toHaveBeenCalledTimes(21)
  expect(await answer).toBe('here')
  expect(told).toEqual([...Array(20).fill(false), true])
})

test('an order that takes no payment any more is not asked again', async () => {
  const told: boolean[] = []
  const ask = vi.fn(async () => {
    throw new Problem(new Response(null, { status: 429 }), {
      reason: 'tooManyTries',
    })
  })
  const answer = keepTrying(ask, {
    onReachable: (isReachable) => told.push(isReachable),
  })
  await expect(answer).rejects.toMatchObject({ reason: 'tooManyTries' })
  expect(ask).toHaveBeenCalledTimes(1)
  expect(told).toEqual([])
})

test('the merchant’s page looks for a lost shop every two seconds at least, until it ends', async () => {
  const fetch = vi.fn().mockRejectedValue(new TypeError('Failed to fetch'))
  vi.stubGlobal('fetch', fetch)
  const ending = new AbortController()
  const following = followEvents({
    api: createMerchantApi('key'),
    signal: ending.signal,
    onEvent: () => undefined,
    onConnection: () => undefined,
  })
  await vi.advanceTimersByTimeAsync(20 * 2_000)

  expect(fetch.mock.calls.length).toBeGreaterThanOrEqual(20)
  ending.abort()
  await following
})
