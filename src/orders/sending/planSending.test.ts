import { expect, test } from 'vitest'
import {
  storedAttempt as attempt,
  storedOrder as order,
} from '../../../test/unit/support/storedOrder.js'
import { judgeSending } from './planSending.js'

/**
 * The buyer signed the attempt twice: first with a window until 900, then with
 * one until 200.
 */
test.each([
  ['capture', 179n, undefined],
  ['capture', 180n, { reason: 'deadlinePassed' }],
  ['capture', 200n, { reason: 'expired' }],
  ['cancel', 200n, undefined],
  ['cancel', 879n, undefined],
  ['cancel', 880n, { reason: 'deadlinePassed' }],
  ['cancel', 900n, { reason: 'expired' }],
] as const)(
  'a %s at second %s is judged by the signatures it is about',
  (requested, timestamp, verdict) => {
    const stored = {
      order: { ...order, requested },
      attempt,
      attempts: [attempt],
      proofs: [],
    }
    const policy = { safetyMargin: 20n }
    expect(judgeSending(stored, { timestamp }, policy)).toEqual(verdict)
  },
)
