import { expect, test } from 'vitest'
import { playSchedules } from '../../../chain/support/channelSchedules.js'
import { isFull, seed } from '../../../chain/support/chaos.js'

const count = isFull ? 2_000 : 200

test(`${count} schedules of requests, withdrawals, reorganizations and faults lose nothing, seed ${seed}`, {
  timeout: isFull ? 14_400_000 : 1_800_000,
}, async () => {
  // Others than those of the shorter test.
  const first = seed + 1_000
  expect(await playSchedules(first, { count, length: 25 })).toEqual([])
})
