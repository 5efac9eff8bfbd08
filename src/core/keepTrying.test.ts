import { expect, test } from 'vitest'
import { growingPause, keepTrying } from './keepTrying.js'

/** Work that fails this many times before it succeeds, and counts its calls. */
function failingWork(failures: number) {
  let calls = 0
  const work = async (): Promise<string> => {
    calls++
    if (calls <= failures) throw new Error(`failure ${calls}`)
    return 'done'
  }
  return { work, calls: () => calls }
}

test('work is done again until it succeeds', async () => {
  const { work, calls } = failingWork(3)
  expect(await keepTrying(work, () => 0)).toBe('done')
  expect(calls()).toBe(4)
})

test('without a pause there is no other try, and the last failure is thrown', async () => {
  const { work, calls } = failingWork(5)
  const pauseAfter = (_: unknown, failures: number) =>
    failures < 3 ? 0 : undefined
  await expect(keepTrying(work, pauseAfter)).rejects.toThrow('failure 3')
  expect(calls()).toBe(3)
})

test('once the signal aborts there is no other try', async () => {
  const { work, calls } = failingWork(5)
  const stop = new AbortController()
  const pauseAfter = () => {
    stop.abort()
    return 60_000
  }
  const trying = keepTrying(work, pauseAfter, stop.signal)
  await expect(trying).rejects.toThrow('failure 1')
  expect(calls()).toBe(1)
})

test('a pause doubles with each failure, up to its limit', () => {
  const pauses = [1, 2, 3, 4, 2000].map((failures) =>
    growingPause(failures, { shortest: 50, longest: 300 }),
  )
  expect(pauses).toEqual([50, 100, 200, 300, 300])
})
