import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { wait } from '../core/wait.js'
import { type KeptLease, keepLease } from './keepLease.js'
import { memoryStore } from './memoryStore.js'
import type { PaymentStore } from './types.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const lasting = { key: 'work', milliseconds: 300 }

/**
 * A memory store that reads the fake clock of the test. Its `takeLease` throws
 * while `isDown` returns true.
 */
function fakeTimeStore(isDown: () => boolean = () => false) {
  const store = memoryStore()
  const asked: number[] = []
  const takeLease: PaymentStore['takeLease'] = async (wanted) => {
    asked.push(performance.now())
    if (isDown()) throw new Error('the database is away')
    return store.takeLease(wanted)
  }
  return { store: { ...store, takeLease }, asked }
}

test('a lease is asked for again once a third of it has passed', async () => {
  const { store, asked } = fakeTimeStore()
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  const first = await kept.take()
  vi.advanceTimersByTime(99)
  expect(await kept.take()).toBe(first)
  expect(asked).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(await kept.take()).toEqual(first)
  expect(asked).toHaveLength(2)
})

test('while another has the lease, each try asks for it', async () => {
  const { store, asked } = fakeTimeStore()
  await store.takeLease({ ...lasting, owner: 'other' })
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  expect(await kept.take()).toBeUndefined()
  expect(await kept.take()).toBeUndefined()
  expect(asked).toHaveLength(3)
  expect(kept.lasts(0)).toBe(false)
})

test('a lease that is not held is not prolonged', async () => {
  const { store, asked } = fakeTimeStore()
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  await kept.prolong()
  await kept.take()
  await kept.release()
  await kept.prolong()
  expect(asked).toHaveLength(1)
})

test('a lease that ran out comes back with another fence', async () => {
  const { store } = fakeTimeStore()
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  const first = await kept.take()
  vi.advanceTimersByTime(300)
  expect(kept.lasts(0)).toBe(false)
  expect((await kept.take())?.fence).not.toBe(first?.fence)
})

test('a database that is away for a moment does not cost the lease', async () => {
  const from = performance.now() + 90
  const isDown = () => performance.now() > from && performance.now() < from + 60
  const { store } = fakeTimeStore(isDown)
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  const first = await kept.take()
  let lost = 0
  const working = kept.during(() => wait(2000), { onLost: () => lost++ })
  await vi.advanceTimersByTimeAsync(1900)
  expect(await store.takeLease({ ...lasting, owner: 'other' })).toBeUndefined()
  await vi.advanceTimersByTimeAsync(100)
  await working
  expect([kept.held, lost]).toEqual([first, 0])
})

test('work that hangs leaves its lease to others after a while', async () => {
  const { store } = fakeTimeStore()
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  await kept.take()
  void kept.during(() => new Promise(() => undefined), { most: 900 })
  const take = () => store.takeLease({ ...lasting, owner: 'other' })
  await vi.advanceTimersByTimeAsync(1000)
  expect(await take()).toBeUndefined()
  await vi.advanceTimersByTimeAsync(300)
  expect(await take()).toBeDefined()
})

/**
 * Wraps a store so that `takeLease` waits this long before the call and again
 * before the answer.
 */
function answerLate(store: PaymentStore, milliseconds: number): PaymentStore {
  const takeLease: PaymentStore['takeLease'] = async (wanted) => {
    await wait(milliseconds)
    const lease = await store.takeLease(wanted)
    await wait(milliseconds)
    return lease
  }
  return { ...store, takeLease }
}

test('a lease is counted from before its request', async () => {
  const store = answerLate(memoryStore(), 50)
  const kept = keepLease(store, { ...lasting, owner: 'one' })
  const taking = kept.take()
  await vi.advanceTimersByTimeAsync(100)
  await taking
  expect([kept.lasts(199), kept.lasts(200)]).toEqual([true, false])
})

test('nothing takes the lease again after it was released', async () => {
  const store = memoryStore()
  const kept = keepLease(answerLate(store, 20), { ...lasting, owner: 'one' })
  const working = kept.take().then(async () => {
    // The work ends while the first prolongation still waits for its answer.
    await kept.during(() => wait(110))
    await kept.release()
  })
  await vi.advanceTimersByTimeAsync(200)
  await working
  expect(await store.takeLease({ ...lasting, owner: 'other' })).toBeDefined()
})

/**
 * How one owner of a lease works, again and again. All numbers are
 * milliseconds.
 */
const shifts = fc.record({
  works: fc.array(fc.nat({ max: 1500 }), { minLength: 1, maxLength: 6 }),
  pause: fc.integer({ min: 1, max: 400 }),
  releases: fc.boolean(),
  /** Delay of each request to the database, and again of each answer. */
  answers: fc.nat({ max: 45 }),
})

type Shift = typeof shifts extends fc.Arbitrary<infer shift> ? shift : never

/**
 * Periods in which the database does not answer. Both numbers are milliseconds;
 * `from` counts from the beginning of the test.
 */
const outages = fc.array(
  fc.record({ from: fc.nat({ max: 5000 }), lasts: fc.nat({ max: 700 }) }),
  { maxLength: 4 },
)

test('never do two owners have the lease, and who loses it is told', async () => {
  const property = fc.asyncProperty(
    fc.array(shifts, { minLength: 2, maxLength: 4 }),
    outages,
    async (owners, away) => {
      const begun = performance.now()
      const time = () => performance.now() - begun
      const { store } = fakeTimeStore(() =>
        away.some(({ from, lasts }) => time() >= from && time() < from + lasts),
      )
      const all: KeptLease[] = []
      const work = async (owner: string, shift: Shift) => {
        const slow = answerLate(store, shift.answers)
        const kept = keepLease(slow, { ...lasting, owner })
        all.push(kept)
        for (const length of shift.works) {
          await wait(shift.pause)
          const lease = await kept.take().catch(() => undefined)
          if (!lease) continue
          const end = time() + length
          let lost = 0
          let goneAt = Number.POSITIVE_INFINITY
          const look = async () => {
            while (time() < end) {
              expect(all.filter((one) => one.lasts(0)).length).toBeLessThan(2)
              const isOurs = kept.held?.fence === lease.fence && kept.lasts(0)
              // A late answer can confirm that this owner had the lease all the
              // time. Then the time of the loss is cleared.
              goneAt = isOurs
                ? Number.POSITIVE_INFINITY
                : Math.min(goneAt, time())
              const isLate = time() - goneAt > lasting.milliseconds / 3 + 90
              if (isLate) expect(lost).toBe(1)
              await wait(10)
            }
          }
          await kept.during(look, { onLost: () => lost++ })
          expect(lost).toBeLessThan(2)
          if (shift.releases) await kept.release()
        }
      }
      const ends = Promise.all(owners.map((one, at) => work(`${at}`, one)))
      ends.catch(() => undefined)
      await vi.advanceTimersByTimeAsync(30_000)
      await ends
      // An owner that stopped or crashed blocks other owners for at most the
      // length of one lease.
      expect(await store.takeLease({ ...lasting, owner: 'last' })).toBeDefined()
    },
  )
  await fc.assert(property, { numRuns: 60 })
})
