import { expect, test } from 'vitest'
import type { OrdersPolicy } from '../model/types.js'
import { settlePolicy } from '../settlePolicy.js'
import { paceOf } from './paceOf.js'

const client = { pollingInterval: 4000 }

test.each<[string, OrdersPolicy, number, number, number]>([
  ['by default', {}, 8453, 4000, 15_000],
  ['on a development chain', {}, 31337, 4000, 4000],
  [
    'on a fork with a clock of its own',
    { chainClock: 'own' },
    8453,
    4000,
    4000,
  ],
  ['with one interval', { pollingInterval: 2000 }, 8453, 2000, 2000],
  [
    'with both',
    { pollingInterval: 2000, quietInterval: 60_000 },
    8453,
    2000,
    60_000,
  ],
  [
    'on a development chain, if told',
    { quietInterval: 9000 },
    31337,
    4000,
    9000,
  ],
  ['with less than the full pace', { quietInterval: 1 }, 8453, 4000, 4000],
])('the pace %s', (_, policy, chainId, interval, quiet) => {
  expect(paceOf(settlePolicy(policy), client, chainId)).toEqual({
    interval,
    quiet,
  })
})
