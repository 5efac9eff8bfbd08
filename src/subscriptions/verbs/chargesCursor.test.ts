import { expect, test } from 'vitest'
import { planChargesCursor } from './chargesCursor.js'

test('keeps failed blocks that are not read again anyway, each once and in order', () => {
  expect(planChargesCursor(100n, [30n, 7n, 30n, 100n, 120n])).toEqual({
    block: 100n,
    failed: [7n, 30n],
  })
})

test('stays at the oldest failed block that has no place in the list', () => {
  const failed = Array.from({ length: 1002 }, (_, at) => BigInt(at))
  const cursor = planChargesCursor(5000n, [...failed].reverse())
  expect(cursor).toEqual({ block: 1000n, failed: failed.slice(0, 1000) })
})
