import { checkoutAddress } from 'countersign/checkout'
import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { topics } from '../../../src/core/tokenAbi.js'
import { word } from '../../../src/core/words.js'
import {
  applyEvent,
  type BookOrder,
} from '../../../src/pages/merchant/applyEvent.js'
import { createBookStore } from '../../../src/pages/merchant/bookState.js'
import type {
  RpcLog,
  RpcReceipt,
} from '../../../src/pages/merchant/chainAnswer.js'
import { checkProof } from '../../../src/pages/merchant/checkProof.js'
import { sumExposure } from '../../../src/pages/merchant/exposure.js'
import { sumSettlement } from '../../../src/pages/merchant/settlement.js'

const payer: Address = `0x${'1'.repeat(40)}`
const other: Address = `0x${'4'.repeat(40)}`
const recipient: Address = `0x${'2'.repeat(40)}`
const token: Address = `0x${'3'.repeat(40)}`
const nonce: Hex = `0x${'5'.repeat(64)}`
const hash: Hex = `0x${'6'.repeat(64)}`
const blockHash: Hex = `0x${'7'.repeat(64)}`

const order: BookOrder = {
  chainId: 31337,
  token,
  recipient,
  id: 'one',
  state: 'captured',
  attempt: 1,
  nonce,
  payer,
  kind: 'eip3009',
  amount: '12.5',
  atMost: undefined,
  value: '12500000',
  primaryType: 'ReceiveWithAuthorization',
  validAfter: '0',
  validBefore: '2000',
  spendableUntil: undefined,
  requested: undefined,
  reason: undefined,
  needsReview: false,
  unexpected: false,
  overpaid: false,
  preconfirmed: undefined,
  metadata: {},
  createdAt: '1000',
  capture: {
    transactionHash: hash,
    blockHash,
    blockNumber: '7',
    logIndex: 1,
    submitter: recipient,
    gasUsed: '80000',
    effectiveGasPrice: '1',
    finality: 'safe',
    blockTime: '1000',
    fee: '80000',
  },
  cancellation: undefined,
  refunds: [],
  refunded: '0',
  refundable: '0',
}

const topic = (address: Address): Hex => `0x${word(address)}`

const used: RpcLog = {
  address: token,
  topics: [topics.used, topic(payer), nonce],
  data: '0x',
  logIndex: '0x0',
}
const transfer: RpcLog = {
  address: token,
  topics: [topics.transfer, topic(payer), topic(recipient)],
  data: `0x${word(12_500_000n)}`,
  logIndex: '0x1',
}

function failedChecks(
  logs: readonly RpcLog[],
  facts: Partial<RpcReceipt> = {},
  present: Hex = blockHash,
  of: BookOrder = order,
): string[] {
  const receipt: RpcReceipt = {
    status: '0x1',
    transactionHash: hash,
    blockHash,
    blockNumber: '0x7',
    from: recipient,
    to: token,
    gasUsed: '0x1',
    logs,
    ...facts,
  }
  const canonical = { hash: present, number: '0x7', timestamp: '0x1' } as const
  return checkProof(of, { receipt, canonical }, 'USDC')
    .filter(({ ok }) => !ok)
    .map(({ key }) => key)
}

test('the page calls a proof good when the chain shows both events', () => {
  expect(failedChecks([used, transfer])).toEqual([])
})

test.each([
  ['another value', [used, { ...transfer, data: `0x${word(1n)}` as const }]],
  [
    'another payer',
    [
      used,
      {
        ...transfer,
        topics: [topics.transfer, topic(other), topic(recipient)],
      },
    ],
  ],
  ['another token', [used, { ...transfer, address: other }]],
])('the page refuses a transfer of %s', (_, logs) => {
  expect(failedChecks(logs)).toEqual(['transfer', 'order'])
})

test('the page refuses a transfer that another authorization paid', () => {
  const foreign: RpcLog = {
    ...used,
    topics: [topics.used, topic(other), nonce],
    logIndex: '0x1',
  }
  const late = { ...transfer, logIndex: '0x2' } as const
  expect(failedChecks([used, foreign, late])).toEqual(['transfer', 'order'])
  expect(failedChecks([{ ...foreign, logIndex: '0x0' }, transfer])).toEqual([
    'AuthorizationUsed',
    'order',
  ])
})

test('the page refuses a reverted transaction, a dropped block and a foreign submitter', () => {
  const logs = [used, transfer]
  expect(failedChecks(logs, { status: '0x0' })).toEqual(['status'])
  expect(failedChecks(logs, {}, hash)).toEqual(['block'])
  expect(failedChecks(logs, { from: other })).toEqual(['submitter'])
})

test('the page says when the chain has no receipt', () => {
  const chain = { receipt: null, canonical: null }
  expect(checkProof(order, chain, 'USDC').map(({ ok }) => ok)).toEqual([false])
})

test('exposure counts open payments, and voided ones while they are spendable', () => {
  const held = { ...order, spendableUntil: '2000' } as const
  const orders: BookOrder[] = [
    { ...held, state: 'stored' },
    { ...held, state: 'voided' },
    { ...held, state: 'voided', payer: other, value: '30000000' },
    { ...held, state: 'voided', spendableUntil: '900' },
    { ...held, state: 'captured' },
    { ...held, state: 'drafted', payer: undefined },
  ]
  expect(sumExposure(orders, 1_000, 6)).toEqual({
    total: 55_000_000n,
    count: 3,
    payers: [
      { payer: other, value: 30_000_000n, count: 1 },
      { payer, value: 25_000_000n, count: 2 },
    ],
  })
})

test('exposure counts a ceiling in full, whatever is captured of it', () => {
  const ceiling: BookOrder = {
    ...order,
    state: 'capturing',
    spendableUntil: '2000',
    amount: '42.1',
    value: '42100000',
    atMost: '50',
  }
  expect(sumExposure([ceiling], 1_000, 6).total).toBe(50_000_000n)
})

test('a capture of a ceiling is proven by what the checkout contract paid', () => {
  const ceiling = { ...order, kind: 'checkout', atMost: '50' }
  const failed = (log: RpcLog): string[] =>
    failedChecks([used, log], {}, blockHash, ceiling)
  const from = [topics.transfer, topic(checkoutAddress), topic(recipient)]
  expect(failed({ ...transfer, topics: from })).toEqual([])
  expect(failed(transfer)).toEqual(['transfer', 'order'])
})

test('settlement is summed by minute and by finality', () => {
  const bars = sumSettlement([order, order], { unit: 'minute', now: 1_065 })
  expect(bars).toHaveLength(30)
  expect(bars.at(-2)).toEqual({
    from: 960,
    sums: { included: 0n, safe: 25_000_000n, finalized: 0n },
    total: 25_000_000n,
    count: 2,
  })
})

test('a refunded part of a sale does not count as settled', () => {
  const part = { ...order, refunded: '2500000' }
  const whole = { ...order, refunded: order.value }
  // Paid twice, and one of the payments was paid back.
  const twice = { ...order, overpaid: true, refunded: order.value }
  const bars = sumSettlement([part, whole, twice], {
    unit: 'minute',
    now: 1_065,
  })
  expect(bars.at(-2)).toMatchObject({ total: 22_500_000n, count: 2 })
})

test('an event changes what the page shows before the order is read again', () => {
  const place = {
    chainId: 31337,
    token,
    recipient,
    cursor: '9',
    orderId: 'one',
    sequence: 3,
    at: '1000000',
  }
  const captured = {
    transactionHash: hash,
    logIndex: 2,
    blockNumber: '7',
    value: order.value,
    submitter: recipient,
  }
  const waiting: BookOrder = {
    ...order,
    state: 'stored',
    capture: undefined,
    pending: 'capture',
  }
  const sent = applyEvent(waiting, {
    ...place,
    type: 'capturing',
    data: { attempt: 1 },
  })
  expect([sent.state, sent.pending]).toEqual(['capturing', undefined])
  const seen = applyEvent(sent, {
    ...place,
    type: 'preconfirmed',
    data: { transactionHash: hash },
  })
  expect([seen.state, seen.preconfirmed]).toEqual(['capturing', hash])
  const included = applyEvent(seen, {
    ...place,
    type: 'captured',
    data: captured,
  })
  expect(included.preconfirmed).toBeUndefined()
  const finalityRaised = applyEvent(order, {
    ...place,
    type: 'finalityRaised',
    data: { finality: 'finalized' },
  })
  expect(finalityRaised.capture?.finality).toBe('finalized')
})

test('a failure stays in the row of its order until its state changes', () => {
  const book = createBookStore()
  const stored = { ...order, state: 'stored' } as const
  const failure = () => book.read().orders.get(order.id)?.failure
  book.keep([stored])
  book.patch(order.id, (shown) => ({ ...shown, failure: 'Not captured.' }))
  book.keep([stored])
  expect(failure()).toBe('Not captured.')
  book.keep([order])
  expect(failure()).toBeUndefined()
})
