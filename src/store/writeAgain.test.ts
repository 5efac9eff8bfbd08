import { expect, test } from 'vitest'
import { DuplicateRecordError, StaleRecordError } from './errors.js'
import { memoryStore } from './memoryStore.js'
import { writeAgain } from './writeAgain.js'

const stale = new StaleRecordError({ table: 'orders' })

/** Returns work that throws the first `times` times, and counts its runs. */
function failing(times: number, error: Error = stale) {
  let done = 0
  return async () => {
    done++
    if (done <= times) throw error
    return done
  }
}

test('a unit of work that was overtaken is done again', async () => {
  const store = memoryStore()
  expect(await writeAgain({ store }, failing(4))).toBe(5)
})

test('after the fifth time it is an error', async () => {
  const store = memoryStore()
  await expect(writeAgain({ store }, failing(5))).rejects.toBe(stale)
})

test('any other error is thrown at once', async () => {
  const store = memoryStore()
  const error = new DuplicateRecordError({ table: 'orders' })
  const work = failing(1, error)
  await expect(writeAgain({ store }, work)).rejects.toBe(error)
  expect(await work()).toBe(2)
})

test('it is written under the lease that is given', async () => {
  const store = memoryStore()
  const lease = { key: 'submitter', owner: 'someone', fence: 7n }
  await expect(
    writeAgain({ store }, failing(0), { lease }),
  ).rejects.toMatchObject({ name: 'LeaseLostError' })
})
