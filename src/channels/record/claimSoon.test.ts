import { expect, test } from 'vitest'
import { claimTime } from './claimSoon.js'

/** The payer announced a withdrawal at second 40, which leaves what is owed. */
const channel = {
  state: 'stopped',
  reason: 'withdrawal',
  balance: 1_000n,
  withdrawing: 100n,
  withdrawableAt: 940n,
  withdrawDelay: 900,
  charged: 900n,
  claimed: 0n,
  unclaimedSince: 50n,
} as const

const policy = { claimAfter: 3_600n, claimAt: undefined }
const now = 60n

test('what is charged during a withdrawal that leaves it is claimed by the policy, not again and again', () => {
  expect(claimTime(channel, now, policy)).toBe(3_650n)
  expect(claimTime(channel, now, { ...policy, claimAt: 900n })).toBe(now)
})

test.each([
  ['was charged before the withdrawal was announced', { unclaimedSince: 40n }],
  ['the withdrawal does not leave', { withdrawing: 101n }],
  ['a stopped channel owes', { reason: 'merchant' }],
  ['is to be refunded', { reason: 'refund' }],
  ['the deposit does not cover', { reason: 'uncovered' }],
])('what %s is claimed at once', (_, changes) => {
  expect(claimTime({ ...channel, ...changes }, now, policy)).toBe(now)
})
