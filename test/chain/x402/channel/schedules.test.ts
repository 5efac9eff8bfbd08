import { expect, test } from 'vitest'
import { playSchedules } from '../../support/channelSchedules.js'
import { seed } from '../../support/chaos.js'

const count = 20

test(`${count} schedules of requests, withdrawals, reorganizations and faults lose nothing, seed ${seed}`, async () => {
  expect(await playSchedules(seed, { count, length: 9 })).toEqual([])
})
