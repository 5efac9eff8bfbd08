import { expect, test, vi } from 'vitest'
import { StaleRecordError } from '../../store/errors.js'
import type { OrderRecord } from '../../store/types.js'
import { type Joins, openJoins } from './joins.js'

type Offered = Parameters<Joins['offer']>[0]

/** An offered capture, of which `joins` reads only the order's id. */
const captureOf = (id: string) => ({ stored: { order: { id } } }) as Offered
const written = { id: 'one' } as OrderRecord

test('a look refuses captures offered before it that it did not write, and leaves later ones to the next look', async () => {
  const joins = openJoins()
  const one = joins.offer(captureOf('one'))
  const end = joins.startLook()
  const other = joins.offer(captureOf('other'))
  end()
  expect(await one).toBeUndefined()
  expect(joins.isAwaited).toBe(true)
  joins.startLook()()
  expect(await other).toBeUndefined()
  expect(joins.isAwaited).toBe(false)
})

test('a written capture is answered with its order', async () => {
  const joins = openJoins()
  const end = joins.startLook()
  const one = joins.offer(captureOf('one'))
  expect(joins.begin(['one', 'of the store'])).toHaveLength(1)
  joins.settle([written])
  end()
  expect(await one).toBe(written)
})

test('a refused capture is known until the look ends, and never written', async () => {
  const joins = openJoins()
  const one = joins.offer(captureOf('one'))
  const end = joins.startLook()
  joins.refuse(['one'])
  expect(await one).toBeUndefined()
  expect(joins.offered()).toEqual([])
  expect(joins.has('one')).toBe(true)
  expect(() => joins.begin(['one'])).toThrow(StaleRecordError)
  end()
  expect(joins.has('one')).toBe(false)
})

test('a capture without progress for a second is refused, unless it is being written', async () => {
  vi.useFakeTimers()
  try {
    const joins = openJoins()
    const ended: string[] = []
    for (const id of ['one', 'other'])
      joins.offer(captureOf(id)).then(() => ended.push(id))
    await vi.advanceTimersByTimeAsync(900)
    joins.prolong(['one'])
    await vi.advanceTimersByTimeAsync(200)
    expect(ended).toEqual(['other'])
    joins.begin(['one'])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ended).toEqual(['other'])
  } finally {
    vi.useRealTimers()
  }
})
