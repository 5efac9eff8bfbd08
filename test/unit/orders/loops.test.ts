import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { growingPause } from '../../../src/core/keepTrying.js'
import { startLoop } from '../../../src/core/loop.js'
import { wait } from '../../../src/core/wait.js'
import { endOnTime } from '../../../src/orders/loop/endOnTime.js'
import { type Limit, limitTo } from '../../../src/orders/loop/limitTo.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** Milliseconds after which work gives up its place. */
const longestTurn = 5000

/** Milliseconds in which loops end. */
const longestEnd = 5000

const pauses = { shortest: 100, longest: 30_000 }

/** What a look does, in milliseconds. */
const plannedLooks = fc.record({
  takes: fc.oneof(
    { weight: 8, arbitrary: fc.nat({ max: 2000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 4000, max: 12_000 }) },
  ),
  fails: fc.boolean(),
  next: fc.nat({ max: 3000 }),
})

const plannedLoops = fc.record({
  looks: fc.array(plannedLooks, { minLength: 1, maxLength: 5 }),
  /** The look that hangs, if it comes to that. */
  hangsAt: fc.nat({ max: 60 }),
  wakes: fc.array(fc.nat({ max: 40_000 }), { maxLength: 10 }),
})

const worlds = fc.record({
  places: fc.integer({ min: 1, max: 3 }),
  loops: fc.array(plannedLoops, { minLength: 1, maxLength: 5 }),
  endsAt: fc.integer({ min: 0, max: 40_000 }),
})

type World = typeof worlds extends fc.Arbitrary<infer world> ? world : never

/** When a look asked for its place, began and ended. */
type Look = {
  asked: number
  began: number
  ended: number
  failures: number
  next: number
}

/** What happened to one loop, in milliseconds from the beginning. */
type Trace = { looks: Look[]; wakes: readonly number[]; ended: number }

const never = Number.POSITIVE_INFINITY

/** Runs all loops of a world in fake time. */
async function play({ places, loops, endsAt }: World) {
  const begun = performance.now()
  const time = () => performance.now() - begun
  const limit = limitTo(places, longestTurn)
  const stopping = new AbortController()
  const traces: Trace[] = []
  const start = (plan: World['loops'][number], ending: AbortSignal) => {
    const trace: Trace = { looks: [], wakes: plan.wakes, ended: never }
    traces.push(trace)
    let failures = 0
    const noting: Limit = (work) => {
      const asked = time()
      return limit(async () => {
        const look = {
          asked,
          began: time(),
          ended: never,
          failures: 0,
          next: 0,
        }
        if (!ending.aborted) trace.looks.push(look)
        return work()
      })
    }
    const look = async () => {
      const at = trace.looks.length - 1
      const noted = trace.looks[at]
      const planned = plan.looks[at % plan.looks.length]
      if (!noted || !planned) throw new Error('no look was planned')
      if (at === plan.hangsAt) await new Promise(() => undefined)
      await wait(planned.takes)
      noted.ended = time()
      noted.failures = planned.fails ? failures + 1 : 0
      failures = noted.failures
      noted.next = planned.next
      if (planned.fails) throw new Error('the node is away')
      return planned.next
    }
    const failed = (_: unknown, inARow: number) => growingPause(inARow, pauses)
    const loop = startLoop({ look, failed, limit: noting }, ending)
    for (const at of plan.wakes) setTimeout(loop.wake, at)
    return loop.ended.then(() => {
      trace.ended = time()
    })
  }
  let ended = never
  const running = endOnTime([stopping.signal], async ({ ending }) => {
    await Promise.all(loops.map((plan) => start(plan, ending)))
  }).then(() => {
    ended = time()
  })
  setTimeout(() => stopping.abort(), endsAt)
  await vi.advanceTimersByTimeAsync(endsAt + longestEnd + 1)
  // Does not wait: it may hang.
  await Promise.race([running, undefined])
  return { traces, ended }
}

function checkPauses({ looks, wakes }: Trace): void {
  for (const [at, next] of looks.slice(1).entries()) {
    const last = looks[at]
    if (!last) continue
    const pause =
      last.failures > 0 ? growingPause(last.failures, pauses) : last.next
    const woken = wakes.filter(
      (one) => one >= last.asked && one <= last.ended + pause,
    )
    // A wake in the same millisecond may come before the look or after it.
    const surely = woken.filter((one) => one > last.asked)
    const due = last.ended + pause
    // Timers count whole milliseconds, and the clock of a loop does not.
    if (woken.length === 0)
      expect(Math.abs(next.asked - due)).toBeLessThanOrEqual(1)
    const [first = due] = surely
      .map((one) => Math.max(one, last.ended))
      .sort((one, other) => one - other)
    expect(next.asked).toBeLessThanOrEqual(first + 1)
    expect(next.asked).toBeGreaterThanOrEqual(last.ended)
  }
}

/** At most so many looks have places, and each gets one in its turn. */
function checkPlaces({ places, loops }: World, traces: readonly Trace[]): void {
  const looks = traces.flatMap((trace) => trace.looks)
  const longest = Math.ceil((loops.length - 1) / places) * longestTurn
  for (const { asked, began } of looks) {
    expect(began - asked).toBeLessThanOrEqual(longest)
    const inPlace = looks.filter(
      (one) =>
        one.began <= began &&
        Math.min(one.ended, one.began + longestTurn) > began,
    )
    expect(inPlace.length).toBeLessThanOrEqual(places)
    const overtaken = looks.filter(
      (one) => one.asked < asked && one.began > began,
    )
    expect(overtaken).toEqual([])
  }
}

/** A loop looks until the end, whatever others do, unless its look hangs. */
function checkLiving(
  { loops, endsAt, places }: World,
  traces: readonly Trace[],
): void {
  const longest = Math.ceil((loops.length - 1) / places) * longestTurn
  for (const { looks } of traces) {
    const last = looks.at(-1)
    if (!last || last.ended > endsAt) continue
    const pause =
      last.failures > 0 ? growingPause(last.failures, pauses) : last.next
    expect(last.ended + pause + longest).toBeGreaterThanOrEqual(endsAt)
  }
}

function checkEnd(world: World, traces: readonly Trace[], ended: number): void {
  const { endsAt } = world
  expect(ended).toBeLessThanOrEqual(endsAt + longestEnd)
  const looks = traces.flatMap((trace) => trace.looks)
  for (const { began } of looks) expect(began).toBeLessThanOrEqual(endsAt)
  const open = looks.filter((look) => look.ended > endsAt)
  if (open.length === 0) expect(ended).toBe(endsAt)
}

test('loops share places fairly, hold up no other, miss no wake and end in time', async () => {
  const property = fc.asyncProperty(worlds, async (world) => {
    const { traces, ended } = await play(world)
    for (const trace of traces) checkPauses(trace)
    checkPlaces(world, traces)
    checkLiving(world, traces)
    checkEnd(world, traces, ended)
  })
  await fc.assert(property, { numRuns: 150, seed: 10878755 })
})
