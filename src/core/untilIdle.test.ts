import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startLoop } from './loop.js'
import { onAbort } from './onAbort.js'
import { runUntilIdle, trackLoops, type Worker } from './untilIdle.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const never = Number.POSITIVE_INFINITY

type Looping = { worker: Worker; wake(): void; looks(): number }

/** A worker with one loop, which asks `look` for each pause. Idle from a second on. */
function looping(look: () => number): Looping {
  let wake: (() => void) | undefined
  let looks = 0
  const worker: Worker = async ({ signal }) => {
    const loops = trackLoops(signal)
    let isIdle = false
    const loop = startLoop(
      {
        failed: () => never,
        look: async () => {
          looks++
          const pause = look()
          isIdle = pause >= 1000
          return pause
        },
      },
      signal,
    )
    wake = loop.wake
    loops.add({
      state: () => ({ nextLook: loop.nextLook(), isIdle }),
      wake: loop.wake,
    })
    loops.complete()
    await loop.ended
  }
  return { worker, wake: () => wake?.(), looks: () => looks }
}

/** Pauses of a loop; the last one again and again. */
const pausing = (...pauses: number[]) =>
  looping(() => (pauses.length > 1 ? pauses.shift() : pauses[0]) ?? never)

/** Runs the workers from now on, and says when they ended. */
function start(workers: readonly Worker[], until = 60_000) {
  const began = performance.now()
  const running = runUntilIdle(workers, { until: began + until })
  return running.then((nextLook) => ({
    took: performance.now() - began,
    nextIn: nextLook === 0 ? 0 : nextLook - performance.now(),
  }))
}

test('ends once all loops are idle, and says who looks next', async () => {
  const ran = start([pausing(300, 400, 5000).worker, pausing(9000).worker])
  await vi.advanceTimersByTimeAsync(2000)
  const { took, nextIn } = await ran
  expect(took).toBeGreaterThanOrEqual(700)
  expect(took).toBeLessThan(900)
  expect(nextIn).toBeGreaterThan(4800)
  expect(nextIn).toBeLessThanOrEqual(5000)
})

test('a loop that is woken works on', async () => {
  const one = pausing(5000, 300, 7000)
  const ran = start([one.worker])
  await vi.advanceTimersByTimeAsync(10)
  one.wake()
  await vi.advanceTimersByTimeAsync(1000)
  expect((await ran).took).toBeGreaterThanOrEqual(310)
})

test('what one loop writes in its last look, and another then, is done', async () => {
  const left = { second: 0, third: 0 }
  const first = looping(() => {
    // The first last look.
    if (first.looks() === 2) left.second++
    return 5000
  })
  const second = looping(() => {
    if (left.second === 0) return 5000
    left.second--
    left.third++
    return 5000
  })
  const third = looping(() => {
    const isDue = left.third > 0
    left.third = 0
    return isDue ? 300 : 5000
  })
  // The order in which they are woken is the worst one.
  const ran = start([third.worker, second.worker, first.worker])
  await vi.advanceTimersByTimeAsync(2000)
  await ran
  expect(left).toEqual({ second: 0, third: 0 })
})

test('a loop whose next look is after the end holds nobody up', async () => {
  const ran = start([pausing(900).worker], 500)
  await vi.advanceTimersByTimeAsync(1000)
  const { took, nextIn } = await ran
  expect(took).toBeLessThan(200)
  expect(nextIn).toBeGreaterThan(700)
})

test('ends at its time, and says that work is left', async () => {
  const ran = start([pausing(50).worker], 500)
  await vi.advanceTimersByTimeAsync(1000)
  const { took, nextIn } = await ran
  expect(took).toBeLessThan(600)
  expect(nextIn).toBeLessThan(600)
})

test('a worker that tracks no loops works until it ends', async () => {
  const until =
    (milliseconds: number): Worker =>
    () =>
      new Promise((resolve) => setTimeout(resolve, milliseconds))
  const ran = start([until(300), pausing(5000).worker])
  await vi.advanceTimersByTimeAsync(1000)
  const { took } = await ran
  expect(took).toBeGreaterThanOrEqual(300)
  expect(took).toBeLessThan(500)
})

test('if one fails, the others end, and the failure is thrown', async () => {
  let hasEnded = false
  const patient: Worker = ({ signal }) =>
    new Promise((resolve) =>
      onAbort(signal, () => {
        hasEnded = true
        resolve()
      }),
    )
  const failing: Worker = () => Promise.reject(new Error('broken'))
  const ran = expect(start([patient, failing])).rejects.toThrow('broken')
  await vi.advanceTimersByTimeAsync(100)
  await ran
  expect(hasEnded).toBe(true)
})

test('ends when its signal aborts', async () => {
  const stopping = new AbortController()
  const until = performance.now() + 60_000
  const ran = runUntilIdle([pausing(50).worker], {
    until,
    signal: stopping.signal,
  })
  await vi.advanceTimersByTimeAsync(200)
  stopping.abort()
  await vi.advanceTimersByTimeAsync(50)
  await ran
  expect(performance.now()).toBeLessThan(until)
})
