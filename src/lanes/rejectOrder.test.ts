import { expect, test } from 'vitest'
import type { AttemptRecord, OrderRecord } from '../store/types.js'
import { rejectOrder, reopenOrder } from './rejectOrder.js'

const word = `0x${'5'.repeat(64)}` as const
const address = `0x${'1'.repeat(40)}` as const

const order: OrderRecord = {
  ...{ chainId: 1, token: address, recipient: address, lane: address },
  ...{ id: 'one', version: 1, position: 1n, sequence: 2, attempt: 1 },
  ...{ state: 'capturing', value: 5n, decimals: 6, payer: address },
  ...{ primaryType: 'TransferWithAuthorization', metadata: {} },
  ...{ tokenName: 'Coin', tokenVersion: '2', buyerTokenHash: word },
  ...{ createdAt: 0n, deadline: 200n, sendDue: undefined, lookDue: 100n },
  ...{ wish: 'capture', reason: undefined, tries: 0, held: false },
  ...{ unexpected: false, overpaid: false, fulfilled: undefined },
  ...{ grade: undefined, settledHash: undefined, settledBlock: undefined },
}

const attempt: AttemptRecord = {
  ...{ chainId: 1, token: address, orderId: 'one', number: 1, version: 1 },
  ...{ nonce: word, payer: address, value: 5n, signatureHash: word },
  ...{ validAfter: 0n, validBefore: 200n, signedAfter: 0n, open: true },
  ...{ signedBefore: 200n, spendableUntil: 200n },
  ...{ signature: 'sealed', cancellation: undefined },
}

const fileOf = (
  fields: Partial<OrderRecord>,
  cancellation: string | undefined,
) => ({
  order: { ...order, ...fields },
  attempt: { ...attempt, cancellation },
  proofs: [],
})

const kept = 'sealed'
const sent = { wish: 'cancel', sendDue: 0n } as const
const rests = { wish: undefined, sendDue: undefined } as const
const rejected = ['captureRejected']
const voided = ['captureRejected', 'voided']

test.each([
  ['capture', undefined, true, { state: 'stored', ...rests }, rejected],
  ['void', undefined, true, { state: 'voided', ...rests }, voided],
  ['void', undefined, false, { state: 'voided', ...rests }, voided],
  ['cancel', kept, true, { state: 'stored', ...sent }, rejected],
  // Set aside first, as without a capture, and then approved.
  ['cancel', kept, false, { state: 'voided', ...sent }, voided],
  ['void', kept, true, { state: 'voided', ...sent }, voided],
  ['void', kept, false, { state: 'voided', ...rests }, voided],
] as const)(
  'a capture that fails with the wish %s, cancellation %s, relayed %s leaves %o',
  (wish, cancellation, relays, fields, types) => {
    const file = fileOf({ wish }, cancellation)
    const { orders, events } = rejectOrder(file, {
      ...{ reason: 'released', at: 0n, relays },
    })
    expect(orders).toMatchObject([{ ...fields, reason: 'released' }])
    expect(events.map(({ type }) => type)).toEqual(types)
  },
)

test.each([
  ['capturing', 'capture', true, { state: 'stored', wish: 'capture' }, []],
  ['capturing', 'cancel', true, { state: 'stored', wish: 'cancel' }, []],
  ['capturing', 'cancel', false, { state: 'voided', ...sent }, voided],
  ['capturing', 'void', true, { state: 'voided', ...sent }, voided],
  ['capturing', 'void', false, { state: 'voided', ...rests }, voided],
  ['canceling', 'cancel', true, { state: 'stored', wish: 'cancel' }, []],
  ['voided', 'cancel', true, { state: 'voided', ...sent }, []],
] as const)(
  'what is %s with the wish %s, relayed %s, is %o when its transaction is lost',
  (state, wish, relays, fields, types) => {
    const file = fileOf({ state, wish }, kept)
    const { orders, events } = reopenOrder(file, { at: 0n, relays })
    expect(orders).toMatchObject([fields])
    expect(events.map(({ type }) => type)).toEqual(types)
  },
)

test('what is decided stays so when its transaction is lost', () => {
  const file = fileOf({ state: 'captured', wish: undefined }, kept)
  expect(reopenOrder(file, { at: 0n, relays: true })).toEqual({
    ...{ orders: [], events: [] },
  })
})
