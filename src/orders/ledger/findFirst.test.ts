import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findFirst } from './findFirst.js'

test('the first number that is not old is found in few steps, wherever it is', async () => {
  const wanted = fc.bigInt({ min: 0n, max: 2n ** 40n })
  await fc.assert(
    fc.asyncProperty(wanted, async (first) => {
      let steps = 0
      const found = await findFirst(async (number) => {
        steps++
        return number < first
      })
      expect(found).toBe(first)
      expect(steps).toBeLessThan(90)
    }),
  )
})
