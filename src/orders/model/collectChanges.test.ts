import { expect, test } from 'vitest'
import { sampleTransaction } from '../../../test/storeCases/samples.js'
import {
  storedAttempt,
  storedOrder,
} from '../../../test/unit/support/storedOrder.js'
import type { ProofRecord } from '../../store/types.js'
import { type NewEvent, noChanges } from './changes.js'
import { collectChanges } from './collectChanges.js'
import type { StoredOrder } from './storedOrder.js'

const attempt = { ...storedAttempt, number: 1, version: 3, spendable: true }
const one: StoredOrder = {
  order: { ...storedOrder, id: 'one', attempt: 1, version: 2 },
  attempt: { ...attempt, orderId: 'one' },
  attempts: [{ ...attempt, orderId: 'one' }],
  proofs: [],
}
const two: StoredOrder = {
  order: { ...storedOrder, id: 'two', attempt: 1, version: 1 },
  attempt: { ...attempt, orderId: 'two' },
  attempts: [{ ...attempt, orderId: 'two' }],
  proofs: [],
}
const collect = () =>
  collectChanges(
    new Map([
      ['one', one],
      ['two', two],
    ]),
  )

test('changes replace rows, count their versions up and add new ones', () => {
  const collected = collect()
  const proof = {
    orderId: 'one',
    transactionHash: '0x01',
    logIndex: 0,
  } as unknown as ProofRecord
  const closed = { ...one.attempt, spendable: false }
  collected.add({
    ...noChanges(),
    orders: [{ ...one.order, state: 'captured' }],
    attempts: [closed],
    newProofs: [proof],
  })
  const written = { ...closed, version: 4 }
  expect(collected.written()).toEqual([
    {
      order: { ...one.order, state: 'captured', version: 3 },
      attempt: written,
      attempts: [written],
      proofs: [{ ...proof, version: 1 }],
    },
    two,
  ])
})

test('each step sees the order as the ones before left it, and a row is written once', () => {
  const collected = collect()
  collected.apply('one', [
    ({ order }) => ({ orders: [{ ...order, tries: order.tries + 1 }] }),
    ({ order }) => ({ orders: [{ ...order, tries: order.tries + 1 }] }),
  ])
  expect(collected.close().orders).toEqual([
    { ...one.order, tries: one.order.tries + 2 },
  ])
})

test('an attempt that is as it was is not written', () => {
  const collected = collect()
  collected.add({ attempts: [{ ...one.attempt }] })
  expect(collected.close()).toEqual(noChanges())
  expect(collected.written()).toEqual([one, two])
})

test('one change may bring more events and transactions than the stack holds', () => {
  const collected = collect()
  const { chainId, token, recipient, id } = one.order
  const event: NewEvent = {
    chainId,
    token,
    recipient,
    orderId: id,
    sequence: 3,
    type: 'voided',
    at: 0n,
    data: {},
  }
  const transaction = sampleTransaction({
    chainId: one.order.chainId,
    account: one.order.submitter,
  })
  const { events, newTransactions } = noChanges()
  const many = 200_000
  for (let at = 0; at < many; at++) {
    events.push(event)
    newTransactions.push(transaction)
  }
  collected.add({ events, newTransactions })
  expect(collected.close().events).toHaveLength(many)
  expect(collected.close().newTransactions).toHaveLength(many)
})
