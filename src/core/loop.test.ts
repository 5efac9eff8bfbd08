import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type LoopWork, startLoop } from './loop.js'
import { wait, waitIdly } from './wait.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Starts a loop that records the time of each poll. */
function startNoting(work: Partial<LoopWork> = {}) {
  const begun = performance.now()
  const looks: number[] = []
  const stopping = new AbortController()
  const loop = startLoop(
    {
      failed: () => 1000,
      ...work,
      look: async () => {
        looks.push(performance.now() - begun)
        return work.look?.() ?? 1000
      },
    },
    stopping.signal,
  )
  return { ...loop, looks, stop: () => stopping.abort() }
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

test('a look says when the next one is', async () => {
  const pauses = [300, 0, 500]
  const { looks } = startNoting({ look: async () => pauses.shift() ?? 5000 })
  await pass(2000)
  expect(looks).toEqual([0, 300, 300, 800])
})

test('a loop that needs no further look waits until it is woken', async () => {
  const { looks, wake } = startNoting({
    look: async () => Number.POSITIVE_INFINITY,
  })
  await pass(3_000_000_000)
  expect(looks).toEqual([0])
  wake()
  await pass(1)
  expect(looks).toEqual([0, 3_000_000_000])
})

test('a wake in a pause ends it', async () => {
  const { looks, wake } = startNoting()
  await pass(400)
  wake()
  await pass(900)
  expect(looks).toEqual([0, 400])
})

test('wakes during a look make one further look', async () => {
  const { looks, wake } = startNoting({
    look: async () => {
      await wait(100)
      return 5000
    },
  })
  await pass(50)
  wake()
  wake()
  await pass(1000)
  expect(looks).toEqual([0, 100])
})

test('a wake while a look waits for its place is not lost', async () => {
  let free: () => void = () => undefined
  const place = new Promise<void>((resolve) => {
    free = resolve
  })
  const { looks, wake } = startNoting({
    limit: async (look) => {
      await place
      return look()
    },
  })
  wake()
  await pass(100)
  free()
  await pass(500)
  expect(looks).toEqual([100, 100])
})

test('a woken loop asks when to look, which only shortens the pause', async () => {
  const answers = [5000, 100]
  const { looks, wake } = startNoting({
    woken: async () => answers.shift() ?? 0,
  })
  await pass(100)
  wake()
  await pass(100)
  wake()
  await pass(150)
  expect(looks).toEqual([0, 300])
  expect(answers).toEqual([])
})

test('a question that fails leaves the pause as it is', async () => {
  const { looks, wake } = startNoting({
    woken: () => Promise.reject(new Error('the database is away')),
  })
  await pass(100)
  wake()
  await pass(1000)
  expect(looks).toEqual([0, 1000])
})

test('failed looks in a row are counted', async () => {
  const counts: number[] = []
  const outcomes = [false, false, true, false]
  const { looks } = startNoting({
    look: async () => {
      if (outcomes.shift()) return 10
      throw new Error('the node is away')
    },
    failed: (_, failures) => {
      counts.push(failures)
      return 100 * failures
    },
  })
  await pass(400)
  expect(counts).toEqual([1, 2, 1])
  expect(looks).toEqual([0, 100, 300, 310])
})

test('what others may know is told after each look, whatever fails', async () => {
  const outcomes = [true, false, true]
  let told = 0
  const { looks } = startNoting({
    look: async () => {
      if (outcomes.shift()) return 100
      throw new Error('the node is away')
    },
    failed: () => 100,
    tell: async () => {
      told++
      if (told === 1) throw new Error('the database is away')
    },
  })
  await pass(250)
  expect([looks, told]).toEqual([[0, 100, 200], 3])
})

test('long pauses prolong the lease, whatever wakes the loop', async () => {
  const prolonged: number[] = []
  const begun = performance.now()
  const { wake } = startNoting({
    look: async () => 1000,
    woken: async () => 1000,
    lease: {
      every: 300,
      prolong: async () => void prolonged.push(performance.now() - begun),
    },
  })
  for (let at = 0; at < 19; at++) {
    await pass(50)
    wake()
  }
  expect(prolonged).toEqual([300, 600, 900])
})

test.each([
  ['short', async () => 500],
  ['that follow a failure', () => Promise.reject(new Error('it failed'))],
])('pauses %s prolong no lease', async (_, look) => {
  let prolonged = 0
  startNoting({
    look,
    lease: { every: 300, prolong: async () => void prolonged++ },
  })
  await pass(5000)
  expect(prolonged).toBe(0)
})

test('a lease that cannot be prolonged does not end the loop', async () => {
  const { looks } = startNoting({
    lease: {
      every: 300,
      prolong: () => Promise.reject(new Error('the database is away')),
    },
  })
  await pass(1500)
  expect(looks).toEqual([0, 1000])
})

test('a loop ends in its pause as soon as its signal aborts', async () => {
  const { ended, stop } = startNoting()
  await pass(100)
  stop()
  await ended
})

test('a loop that ends completes its look, and begins no other', async () => {
  let isDone = false
  const { ended, looks, stop } = startNoting({
    look: async () => {
      await wait(200)
      isDone = true
      return 0
    },
  })
  await pass(100)
  stop()
  await pass(100)
  await ended
  expect(isDone).toBe(true)
  expect(looks).toEqual([0])
})

test('a loop that is over by itself ends after its look, or when it is woken', async () => {
  let isOver = false
  const { ended, looks, wake } = startNoting({ isOver: () => isOver })
  await pass(100)
  isOver = true
  wake()
  await ended
  expect(looks).toEqual([0])
})

test('a loop over a signal that aborted before does not look', async () => {
  const { ended, looks, stop } = startNoting()
  stop()
  await ended
  expect(looks).toEqual([])
})

test('a loop ends with what is thrown when a failure is noted', async () => {
  const { ended, looks } = startNoting({
    look: () => Promise.reject(new Error('the node is away')),
    failed: (error) => {
      throw error
    },
  })
  await expect(ended).rejects.toThrow('the node is away')
  expect(looks).toEqual([0])
})

test('with `waitIdly`, a loop keeps no process alive, and is woken and ended like any other', async () => {
  vi.useRealTimers()
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const ending = new AbortController()
  let looks = 0
  const look = async () => {
    looks++
    return 3_600_000
  }
  const work = { look, failed: () => 0, sleep: waitIdly }
  const loop = startLoop(work, ending.signal)
  await vi.waitFor(() => expect(looks).toBe(1))
  const longest = timers.mock.results.filter(
    (_, at) => Number(timers.mock.calls[at]?.[1]) > 3_000_000,
  )
  expect(longest.map(({ value }) => value.hasRef())).toEqual([false])
  timers.mockRestore()
  loop.wake()
  await vi.waitFor(() => expect(looks).toBe(2))
  ending.abort()
  await loop.ended
})
