import { expect, test } from 'vitest'
import { openBatchMemory } from './batchMemory.js'

test('a plan of one payment says nothing about how many can share a transaction', () => {
  const batches = openBatchMemory()
  batches.notePlan(1, 1)
  expect(batches.reach).toBeUndefined()
  batches.notePlan(100, 1)
  batches.notePlan(1, 1)
  expect(batches.reach).toBe(200)
})
