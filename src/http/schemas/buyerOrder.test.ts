import { expect, test } from 'vitest'
import type { Order } from '../../orders/model/types.js'
import { buyerOrder } from './buyerOrder.js'

const hash = `0x${'ab'.repeat(32)}` as const
const other = `0x${'cd'.repeat(32)}` as const
const shown = {
  amount: '12.5',
  chainId: 1,
  token: `0x${'01'.repeat(20)}`,
  recipient: `0x${'02'.repeat(20)}`,
} as const

/** Makes an order in which every member that no buyer may see has a value. */
function orderOf(changes: Partial<Order>): Order {
  const secrets = {
    id: 'one',
    nonce: other,
    payer: shown.token,
    needsReview: true,
    metadata: { margin: 40 },
    reason: 'payerBlocked',
    requested: 'void',
    validAfter: 1n,
    validBefore: 9n,
    state: 'stored',
    value: 1n,
    refunds: [],
  }
  return { ...secrets, ...shown, ...changes } as unknown as Order
}

test('a buyer is shown these members, and no other', () => {
  expect(buyerOrder(orderOf({}))).toEqual({
    ...shown,
    window: { validAfter: 1n, validBefore: 9n },
    state: 'stored',
    transaction: null,
    refunds: [],
  })
})

test('of a refund a buyer is shown amount, state and transaction, and nothing else', () => {
  const transfer = {
    transactionHash: hash,
    blockNumber: 7n,
    finality: 'safe',
    submitter: shown.token,
  }
  const secrets = {
    refundId: 'return-7',
    orderId: 'one',
    reason: 'fraudulent',
    failure: 'payerBlocked',
    to: shown.token,
    value: 1n,
    reserved: true,
    nonce: other,
    validBefore: 9n,
  }
  const refunds = [
    { ...secrets, state: 'succeeded', amount: '2.5', transfer },
    { ...secrets, state: 'failed', amount: '10', transfer: undefined },
  ] as unknown as Order['refunds']
  expect(buyerOrder(orderOf({ state: 'captured', refunds })).refunds).toEqual([
    {
      state: 'succeeded',
      amount: '2.5',
      transaction: { hash, blockNumber: 7n, finality: 'safe' },
    },
    { state: 'failed', amount: '10', transaction: null },
  ])
})

test.each<[string, Partial<Order>, unknown]>([
  [
    'a capture in the block being made',
    { state: 'capturing', preconfirmed: hash },
    { hash, finality: 'preconfirmed' },
  ],
  [
    'a capture',
    {
      state: 'captured',
      preconfirmed: other,
      capture: { transactionHash: hash, finality: 'safe' } as Order['capture'],
    },
    { hash, finality: 'safe' },
  ],
  [
    'a cancellation',
    {
      state: 'canceled',
      cancellation: {
        transactionHash: hash,
        finality: 'finalized',
      } as Order['cancellation'],
    },
    { hash, finality: 'finalized' },
  ],
])('of %s a buyer is shown hash and finality', (_, changes, transaction) => {
  expect(buyerOrder(orderOf(changes))).toMatchObject({ transaction })
})
