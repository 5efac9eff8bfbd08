import { expect, test } from 'vitest'
import { settleOrder } from '../../../../src/orders/model/settleOrder.js'
import { unsettleOrder } from '../../../../src/orders/model/unsettleOrder.js'
import type {
  OrderRecord,
  TransactionRecord,
} from '../../../../src/store/types.js'
import {
  attempt,
  captured,
  destination,
  order,
  proofAt,
  word,
} from '../../support/settlingRows.js'

const sent: TransactionRecord = {
  chainId: 31337,
  account: destination.recipient,
  nonce: 7,
  bump: 0,
  version: 2,
  kind: 'capture',
  movements: [{ orderId: 'one', attempt: 1 }],
  hash: word('9'),
  raw: 'sealed',
  gas: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  recordedAt: 0n,
  inFlight: false,
}

const policy = {
  capture: 'manual',
  deadlineNear: 300n,
  relayCancellations: 'onApproval',
} as const
const facts = { blockTime: 600n, at: 0n, policy }

test('what was given up and paid all the same is not sent again when a fork takes it back', () => {
  const proofs = [proofAt(word('a'), 9n)]
  const stored = {
    order: { ...captured(word('a')), unexpected: true },
    attempt,
    proofs,
  }
  const changes = unsettleOrder(stored, { ...facts, transactions: [sent] })
  expect(changes.orders).toMatchObject([{ state: 'voided' }])
  expect(changes.transactions).toEqual([])
})

test.each([
  ['void', 'voided'],
  ['cancel', 'voided'],
  [undefined, 'stored'],
] as const)(
  'what is to be ended by a %s, and was used elsewhere, is %s when a fork takes that back',
  (requested, state) => {
    const consumed = { transactionHash: word('c'), blockNumber: 9n } as const
    const { orders } = settleOrder(
      { order: { ...order, requested }, attempt, proofs: [] },
      { kind: 'consumed', ...consumed, blockHash: word('7') },
      0n,
    )
    const [used] = orders
    if (!used) throw new Error('Nothing was settled.')
    const changes = unsettleOrder(
      { order: used, attempt, proofs: [] },
      { ...facts, transactions: [] },
    )
    expect(changes.orders).toMatchObject([{ state }])
  },
)

test('what was paid for real is sent again when a fork takes it back', () => {
  const stored = {
    order: captured(word('9')),
    attempt,
    proofs: [proofAt(word('9'), 9n)],
  }
  const changes = unsettleOrder(stored, { ...facts, transactions: [sent] })
  expect(changes.orders).toMatchObject([{ state: 'capturing' }])
  expect(changes.transactions).toEqual([{ ...sent, inFlight: true }])
})

test('what someone else’s transaction has ended stays closed when a fork takes back the next', () => {
  const proofs = [proofAt(word('9'), 9n)]
  const stored = { order: captured(word('9')), attempt, proofs }
  const before = { ...sent, nonce: 5, hash: word('e') }
  const changes = unsettleOrder(stored, {
    ...facts,
    transactions: [before, sent],
  })
  expect(changes.transactions).toEqual([{ ...sent, inFlight: true }])
})

test.each([
  ['manual', undefined],
  ['onAccept', 0n],
  ['beforeDeadline', undefined],
] as const)(
  'what another had paid for us is due again as the policy %s says',
  (capture, sendDue) => {
    const proofs = [proofAt(word('a'), 9n)]
    const stored = { order: captured(word('a')), attempt, proofs }
    const changes = unsettleOrder(stored, {
      ...facts,
      transactions: [],
      policy: { ...policy, capture },
    })
    expect(changes.orders).toMatchObject([
      { state: 'stored', sendDue, lookDue: 700n },
    ])
  },
)

test('what the buyer has canceled is not captured by itself after a fork', () => {
  const proofs = [proofAt(word('a'), 9n, { kind: 'cancel', value: 0n })]
  const canceled = { ...captured(word('a')), state: 'canceled' as const }
  const changes = unsettleOrder(
    { order: canceled, attempt, proofs },
    {
      ...facts,
      transactions: [],
      policy: { ...policy, capture: 'onAccept' },
    },
  )
  expect(changes.orders).toMatchObject([
    { state: 'stored', sendDue: undefined, lookDue: 1000n },
  ])
})

test('after a fork a cancellation is sent again as long as any signature can be used', () => {
  const proofs = [proofAt(word('9'), 9n, { kind: 'cancel', value: 0n })]
  const canceled = { ...captured(word('9')), state: 'canceled' as const }
  const shortened = { ...attempt, validBefore: 550n, signedBefore: 550n }
  const cancel = { ...sent, kind: 'cancel' as const }
  const changes = unsettleOrder(
    { order: canceled, attempt: shortened, proofs },
    { ...facts, transactions: [cancel] },
  )
  expect(changes.orders).toMatchObject([{ state: 'canceling', lookDue: 1000n }])
  expect(changes.attempts).toMatchObject([{ spendable: true }])
  expect(changes.transactions).toEqual([{ ...cancel, inFlight: true }])
})

test.each([
  ['sent by us', [{ ...sent, kind: 'cancel' }], 600n, 'cancel'],
  ['sent by the buyer', [], 600n, undefined],
  ['sent by us, and over', [{ ...sent, kind: 'cancel' }], 1000n, undefined],
] as const)(
  'what was voided before a cancellation %s is voided when a fork takes that back',
  (_, transactions, blockTime, requested) => {
    const proof = proofAt(word('9'), 9n, { kind: 'cancel', value: 0n })
    const { version: __, ...evidence } = proof
    const voided = { ...order, state: 'voided' as const }
    const settled = settleOrder(
      { order: voided, attempt, proofs: [] },
      { kind: 'cancel', proof: evidence },
      0n,
    )
    const [canceled] = settled.orders
    if (!canceled) throw new Error('no order')
    expect(canceled.state).toBe('canceled')
    const changes = unsettleOrder(
      { order: canceled, attempt, proofs: [proof] },
      { ...facts, blockTime, transactions },
    )
    expect(changes.orders).toMatchObject([
      { state: 'voided', requested, sendDue: undefined },
    ])
    expect(changes.transactions).toEqual(
      requested ? transactions.map((row) => ({ ...row, inFlight: true })) : [],
    )
  },
)

test('what was voided and consumed is voided when a fork takes that back, and paid by mistake when it pays', () => {
  const voided = { ...order, state: 'voided' as const }
  const evidence = { transactionHash: word('a'), blockNumber: 9n }
  const [consumed] = settleOrder(
    { order: voided, attempt, proofs: [] },
    { kind: 'consumed', ...evidence },
    0n,
  ).orders
  if (!consumed) throw new Error('no order')
  const stored = { order: consumed, attempt, proofs: [] }
  const changes = unsettleOrder(stored, {
    ...facts,
    transactions: [],
    policy: { ...policy, capture: 'onAccept' },
  })
  expect(changes.orders).toMatchObject([
    { state: 'voided', requested: undefined, sendDue: undefined },
  ])
  const { version: _, ...proof } = proofAt(word('b'), 9n)
  const paid = settleOrder(stored, { kind: 'capture', proof }, 0n)
  expect(paid.orders).toMatchObject([{ state: 'captured', unexpected: true }])
})

test('after a fork a capture is sent again only in the window that it carries', () => {
  const proofs = [proofAt(word('9'), 9n)]
  const shortened = { ...attempt, validBefore: 550n, signedBefore: 550n }
  const changes = unsettleOrder(
    { order: captured(word('9')), attempt: shortened, proofs },
    { ...facts, transactions: [sent] },
  )
  expect(changes.orders).toMatchObject([{ state: 'stored', lookDue: 600n }])
  expect(changes.attempts).toMatchObject([{ spendable: true }])
  expect(changes.transactions).toEqual([])
})

test('a cancellation that is on record ends an order a fork has opened again', () => {
  const cancel = proofAt(word('b'), 9n, { kind: 'cancel', value: 0n })
  const stored = {
    order: { ...order, state: 'capturing' as const },
    attempt,
    proofs: [proofAt(word('a'), 9n, { removed: true }), cancel],
  }
  const { version: _, ...proof } = cancel
  const changes = settleOrder(stored, { kind: 'cancel', proof }, 0n)
  expect(changes.orders).toMatchObject([
    { state: 'canceled', settledHash: word('b') },
  ])
  expect([...changes.proofs, ...changes.newProofs]).toEqual([])
  const [canceled] = changes.orders
  if (!canceled) throw new Error('no order')
  const again = { ...stored, order: canceled }
  const repeated = settleOrder(again, { kind: 'cancel', proof }, 0n)
  expect(repeated.orders).toEqual([])
  expect(repeated.events).toEqual([])
})

/** Captured although something else was requested for, then taken back. */
function overtake(
  requested: 'void' | 'cancel',
  fields: Partial<OrderRecord> = {},
  relayCancellations: 'always' | 'onApproval' = 'onApproval',
) {
  const capturing = { ...order, state: 'capturing' as const, requested }
  const proof = proofAt(word('9'), 9n)
  const { version: _, ...evidence } = proof
  const [paid] = settleOrder(
    { order: capturing, attempt, proofs: [] },
    { kind: 'capture', proof: evidence },
    0n,
  ).orders
  if (!paid) throw new Error('no order')
  expect(paid).toMatchObject({ state: 'captured', unexpected: false })
  const signed = { ...attempt, cancellation: 'sealed' }
  const stored = { order: { ...paid, ...fields }, proofs: [proof] }
  const options = {
    ...facts,
    policy: { ...policy, relayCancellations },
    transactions: [sent],
  }
  return unsettleOrder({ ...stored, attempt: signed }, options)
}

test('a void that a capture overtook is applied when a fork takes the capture back', () => {
  const { orders, transactions, events } = overtake('void')
  expect(orders).toMatchObject([{ state: 'voided', requested: undefined }])
  expect(transactions).toEqual([])
  expect(events).toMatchObject([
    { type: 'reorged', data: { from: 'captured', to: 'voided' } },
  ])
})

test.each([
  ['always', 'stored'],
  ['onApproval', 'voided'],
] as const)(
  'a cancellation that a capture overtook is sent when a fork takes the capture back: relayed %s, the order is %s',
  (relayCancellations, state) => {
    const { orders, transactions } = overtake('cancel', {}, relayCancellations)
    expect(orders).toMatchObject([{ state, requested: 'cancel', sendDue: 0n }])
    expect(transactions).toEqual([])
  },
)

test.each(['void', 'cancel'] as const)(
  'what was fulfilled is captured again, whatever was requested for before: %s',
  (requested) => {
    const { orders, transactions } = overtake(requested, {
      fulfilled: 'one/0x9',
    })
    expect(orders).toMatchObject([{ state: 'capturing', requested: 'capture' }])
    expect(transactions).toEqual([{ ...sent, inFlight: true }])
  },
)

test.each([
  [false, 615n],
  [true, undefined],
] as const)(
  'an order whose expiry is final (%s) is looked at again at %s, not at each look',
  (final, lookDue) => {
    const changes = settleOrder(
      { order, attempt, proofs: [] },
      { kind: 'expired', blockNumber: 9n, blockTime: 600n, final },
      0n,
    )
    expect(changes.orders).toMatchObject([{ state: 'expired', lookDue }])
  },
)

test('what was spent on another payment waits for no review, and names no older reason', () => {
  const held = { ...order, needsReview: true, reason: 'needsReview' } as const
  const changes = settleOrder(
    { order: held, attempt, proofs: [] },
    { kind: 'consumed', transactionHash: word('a'), blockNumber: 9n },
    0n,
  )
  expect(changes.orders).toMatchObject([
    { state: 'consumed', needsReview: false, reason: undefined },
  ])
})

test.each([
  ['captured', 'capture'],
  ['canceled', 'cancel'],
  ['consumed', undefined],
] as const)(
  'an order that was never accepted is a draft again once a fork takes back what made it %s',
  (state, kind) => {
    const unsigned = {
      ...attempt,
      signature: undefined,
      signatureHash: undefined,
    }
    const proofs = kind ? [proofAt(word('a'), 9n, { kind })] : []
    const settled: OrderRecord = { ...captured(word('a')), state }
    const take = (blockTime: bigint, newest: typeof attempt = unsigned) =>
      unsettleOrder(
        {
          order: { ...settled, attempt: newest.number },
          attempt: unsigned,
          attempts: [unsigned, newest],
          proofs,
        },
        { ...facts, blockTime, transactions: [] },
      ).orders
    const open = { state: 'drafted', requested: undefined, sendDue: undefined }
    expect(take(600n)).toMatchObject([{ ...open, lookDue: 1000n }])
    expect(take(1000n)).toMatchObject([{ ...open, lookDue: 1000n }])
    expect(take(600n, { ...attempt, number: 2 })).toMatchObject([
      { state: 'stored' },
    ])
  },
)

test('a reorganization leaves a voided order voided, though nobody ever accepted a payment of it', () => {
  const unsigned = {
    ...attempt,
    signature: undefined,
    signatureHash: undefined,
  }
  const stored = {
    order: { ...captured(word('a')), unexpected: true },
    attempt: unsigned,
    proofs: [proofAt(word('a'), 9n)],
  }
  const changes = unsettleOrder(stored, { ...facts, transactions: [] })
  expect(changes.orders).toMatchObject([{ state: 'voided' }])
})

test('a cancellation that a fork finds too late to send ends the order, and is not forgotten', () => {
  const stored = {
    order: { ...captured(word('a')), requested: 'cancel' as const },
    attempt: { ...attempt, cancellation: 'sealed' },
    proofs: [proofAt(word('a'), 9n)],
  }
  const take = (blockTime: bigint) =>
    unsettleOrder(stored, { ...facts, blockTime, transactions: [] }).orders
  expect(take(600n)).toMatchObject([{ state: 'voided', requested: 'cancel' }])
  expect(take(1000n)).toMatchObject([
    { state: 'voided', requested: undefined, sendDue: undefined },
  ])
})
