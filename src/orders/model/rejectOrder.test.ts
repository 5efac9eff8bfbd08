import { expect, test } from 'vitest'
import {
  storedAttempt,
  storedOrder,
} from '../../../test/unit/support/storedOrder.js'
import type { OrderRecord } from '../../store/types.js'
import { rejectOrder, reopenOrder } from './rejectOrder.js'

const order: OrderRecord = {
  ...storedOrder,
  state: 'capturing',
  requested: 'capture',
  sendDue: undefined,
  lookDue: 100n,
}
const attempt = { ...storedAttempt, spendableUntil: 200n }

const fileOf = (
  fields: Partial<OrderRecord>,
  cancellation: string | undefined,
) => ({
  order: { ...order, ...fields },
  attempt: { ...attempt, cancellation },
  proofs: [],
})

const kept = 'sealed'
const sent = { requested: 'cancel', sendDue: 0n } as const
const rests = { requested: undefined, sendDue: undefined } as const
const rejected = ['captureRejected']
const voided = ['captureRejected', 'voided']

test.each([
  ['capture', undefined, true, { state: 'stored', ...rests }, rejected],
  ['void', undefined, true, { state: 'voided', ...rests }, voided],
  ['void', undefined, false, { state: 'voided', ...rests }, voided],
  ['cancel', kept, true, { state: 'stored', ...sent }, rejected],
  // The cancellation was stored first without sending it, and then approved.
  ['cancel', kept, false, { state: 'voided', ...sent }, voided],
  ['void', kept, true, { state: 'voided', ...sent }, voided],
  ['void', kept, false, { state: 'voided', ...rests }, voided],
] as const)(
  'a capture that fails with the requested %s, cancellation %s, relayed %s leaves %o',
  (requested, cancellation, relays, fields, types) => {
    const stored = fileOf({ requested }, cancellation)
    const { orders, events } = rejectOrder(stored, {
      reason: 'replaced',
      at: 0n,
      relays,
    })
    expect(orders).toMatchObject([{ ...fields, reason: 'replaced' }])
    expect(events.map(({ type }) => type)).toEqual(types)
  },
)

test.each([
  [
    'capturing',
    'capture',
    true,
    { state: 'stored', requested: 'capture' },
    ['reopened'],
  ],
  [
    'capturing',
    'cancel',
    true,
    { state: 'stored', requested: 'cancel' },
    ['reopened'],
  ],
  ['capturing', 'cancel', false, { state: 'voided', ...sent }, voided],
  ['capturing', 'void', true, { state: 'voided', ...sent }, voided],
  ['capturing', 'void', false, { state: 'voided', ...rests }, voided],
  [
    'canceling',
    'cancel',
    true,
    { state: 'stored', requested: 'cancel' },
    ['reopened'],
  ],
  ['voided', 'cancel', true, { state: 'voided', ...sent }, []],
] as const)(
  'what is %s with the requested %s, relayed %s, is %o when its transaction is lost',
  (state, requested, relays, fields, types) => {
    const stored = fileOf({ state, requested }, kept)
    const { orders, events } = reopenOrder(stored, { at: 0n, relays })
    expect(orders).toMatchObject([fields])
    expect(events.map(({ type }) => type)).toEqual(types)
  },
)

test('what is decided stays so when its transaction is lost', () => {
  const stored = fileOf({ state: 'captured', requested: undefined }, kept)
  expect(reopenOrder(stored, { at: 0n, relays: true })).toEqual({
    orders: [],
    events: [],
  })
})

test('a charge whose permission was approved is sent next, and tells the approval', () => {
  const approval = { transactionHash: '0x1', blockNumber: 7n } as const
  const about = { at: 0n, relays: true, approval }
  const stored = fileOf({ state: 'capturing', requested: undefined }, kept)
  const { orders, events } = reopenOrder(stored, about)
  expect(orders).toMatchObject([{ state: 'stored', requested: 'capture' }])
  expect(events).toMatchObject([
    {
      type: 'permissionApproved',
      data: { transactionHash: '0x1', blockNumber: '7' },
    },
  ])
})
