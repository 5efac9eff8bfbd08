import { expect, test } from 'vitest'
import { isPaused, noteReverted, openBatchMemory } from './batchMemory.js'

test('a plan of one payment says nothing about how many can share a transaction', () => {
  const batches = openBatchMemory()
  batches.notePlan(1, 1)
  expect(batches.reach).toBeUndefined()
  batches.notePlan(100, 1)
  batches.notePlan(1, 1)
  expect(batches.reach).toBe(200)
})

const hour = 3600

test('after two reverted transactions within an hour, payments go alone for an hour', () => {
  const value = { nextNonce: 7 }
  const first = noteReverted(value, 1000)
  expect(first).toEqual({ nextNonce: 7, revertedAt: 1000 })
  const late = noteReverted(first, 1001 + hour)
  expect(isPaused(late, 1001 + hour)).toBe(false)
  const second = noteReverted(first, 1000 + hour)
  expect(second).toEqual({ nextNonce: 7, aloneUntil: 1000 + 2 * hour })
  expect(isPaused(second, 1000 + hour)).toBe(true)
  expect(isPaused(second, 1001 + 2 * hour)).toBe(false)
  // A third one, which was in flight, does not end the pause.
  expect(isPaused(noteReverted(second, 1001 + hour), 1001 + hour)).toBe(true)
})

test('payments do not go alone because a clock was wrong', () => {
  const noted = { nextNonce: 0, revertedAt: 10 ** 9, aloneUntil: 10 ** 9 }
  expect(isPaused(noted, 1000)).toBe(false)
  expect(isPaused(noteReverted(noted, 1000), 1000)).toBe(false)
})
