import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import type { StoredOrder } from '../../../../src/orders/model/storedOrder.js'
import { unsettleOrder } from '../../../../src/orders/model/unsettleOrder.js'
import type {
  ProofRecord,
  TransactionRecord,
} from '../../../../src/store/types.js'
import { storedAttempt, storedOrder } from '../../support/storedOrder.js'

const hash: Hash = `0x${'a'.repeat(64)}`
const { chainId, token, recipient } = storedOrder

const proof: ProofRecord = {
  chainId,
  token,
  recipient,
  transactionHash: hash,
  logIndex: 0,
  version: 1,
  kind: 'capture',
  orderId: 'one',
  attempt: 1,
  blockHash: hash,
  blockNumber: 9n,
  blockTime: 90n,
  payer: recipient,
  value: 5n,
  submitter: token,
  gasUsed: 1n,
  effectiveGasPrice: 1n,
  removed: false,
}

/** Captured by somebody else's transaction, and fulfilled. */
const fulfilled: Omit<StoredOrder, 'attempts'> = {
  order: {
    ...storedOrder,
    state: 'captured',
    settledHash: hash,
    settledBlock: 9n,
    finality: 'safe',
    fulfilled: `one/${hash}`,
    sendDue: undefined,
  },
  attempt: { ...storedAttempt, spendable: false, cancellation: undefined },
  proofs: [proof],
}

const facts = {
  transactions: [] as TransactionRecord[],
  blockTime: 100n,
  at: 0n,
  policy: {
    capture: 'manual',
    deadlineNear: 50n,
    relayCancellations: 'onApproval',
  },
} as const

test.each(['manual', 'onAccept', 'beforeDeadline'] as const)(
  'what is fulfilled is captured at once when somebody else’s capture is taken back, with the policy %s',
  (capture) => {
    const policy = { ...facts.policy, capture }
    const changes = unsettleOrder(fulfilled, { ...facts, policy })
    expect(changes.orders).toMatchObject([
      { state: 'stored', requested: 'capture', sendDue: 0n },
    ])
  },
)

test.each([
  ['is not fulfilled', { fulfilled: undefined }, { requested: undefined }],
  [
    'was given up',
    { unexpected: true },
    { state: 'voided', requested: undefined },
  ],
  ['was canceled', { state: 'canceled' }, { requested: undefined }],
] as const)(
  'what %s is not captured by itself when a reorganization takes it back',
  (_, changed, expected) => {
    const order = { ...fulfilled.order, ...changed }
    const changes = unsettleOrder({ ...fulfilled, order }, facts)
    expect(changes.orders).toMatchObject([{ sendDue: undefined, ...expected }])
  },
)

test('what is fulfilled is not sent once its window is over', () => {
  const changes = unsettleOrder(fulfilled, { ...facts, blockTime: 200n })
  expect(changes.orders).toMatchObject([
    {
      state: 'stored',
      requested: undefined,
      sendDue: undefined,
      lookDue: 200n,
    },
  ])
})

const erased: TransactionRecord = {
  chainId,
  account: storedOrder.submitter,
  nonce: 3,
  bump: 0,
  version: 2,
  kind: 'capture',
  movements: [{ orderId: 'one', attempt: 1 }],
  hash,
  raw: undefined,
  gas: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  recordedAt: 0n,
  inFlight: false,
}

test('a transaction whose bytes are erased is not opened again, and that is reported', () => {
  const attempt = { ...fulfilled.attempt, signature: undefined }
  const changes = unsettleOrder(
    { ...fulfilled, attempt },
    { ...facts, transactions: [erased] },
  )
  expect(changes.transactions).toEqual([])
  expect(changes.orders).toMatchObject([
    { state: 'stored', reason: 'sealBroken', sendDue: undefined },
  ])
  expect(changes.events).toMatchObject([
    { type: 'reorged', data: { to: 'stored' } },
    { type: 'captureRejected', data: { reason: 'sealBroken' } },
  ])
})

test('a cancellation whose bytes are erased is not opened again, and that is reported', () => {
  const order = { ...fulfilled.order, state: 'canceled' as const }
  const proofs = [{ ...proof, kind: 'cancel' as const }]
  const changes = unsettleOrder(
    { ...fulfilled, order, proofs },
    { ...facts, transactions: [{ ...erased, kind: 'cancel' }] },
  )
  expect(changes.transactions).toEqual([])
  expect(changes.orders).toMatchObject([
    { state: 'stored', reason: 'sealBroken', requested: undefined },
  ])
  expect(changes.events.map(({ type }) => type)).toEqual([
    'reorged',
    'cancelRejected',
  ])
})

test('a transaction that a wallet signed and sent is opened again as long as the signature is held', () => {
  const changes = unsettleOrder(fulfilled, {
    ...facts,
    transactions: [erased],
  })
  expect(changes.orders).toMatchObject([{ state: 'capturing' }])
  expect(changes.transactions).toEqual([{ ...erased, inFlight: true }])
})

/** The same, paid by its first attempt though a second one was offered. */
const paidByOlder: Omit<StoredOrder, 'attempts'> = {
  ...fulfilled,
  order: { ...fulfilled.order, attempt: 2 },
}

test('the loss of what an older attempt paid is raised when that is taken back', () => {
  const changes = unsettleOrder(paidByOlder, facts)
  expect(changes.events.map(({ type }) => type)).toEqual([
    'reorged',
    'lossAfterFulfilment',
  ])
  expect(changes.orders).toHaveLength(1)
  expect(changes.orders[0]?.sequence).toBe(4)
})

test('no loss is raised of what an older attempt paid while another payment stands', () => {
  const other = { ...proof, logIndex: 5, attempt: 2, transactionHash: token }
  const changes = unsettleOrder(
    { ...paidByOlder, proofs: [proof, other] },
    facts,
  )
  expect(changes.events.map(({ type }) => type)).toEqual(['reorged'])
})

test('no loss is raised at once of what the newest attempt paid, or nobody shipped', () => {
  const unshipped = { ...paidByOlder.order, fulfilled: undefined }
  for (const order of [fulfilled.order, unshipped]) {
    const { events } = unsettleOrder({ ...fulfilled, order }, facts)
    expect(events.map(({ type }) => type)).toEqual(['reorged'])
  }
})
