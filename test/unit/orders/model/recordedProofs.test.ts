import { expect, test } from 'vitest'
import { collectChanges } from '../../../../src/orders/model/collectChanges.js'
import { settleOrder } from '../../../../src/orders/model/settleOrder.js'
import type { StoredOrder } from '../../../../src/orders/model/storedOrder.js'
import {
  attempt,
  captured,
  order,
  proofAt,
  word,
} from '../../support/settlingRows.js'

test('a nonce pays once: another transaction of it takes the place of the one before', () => {
  const before = proofAt(word('a'), 9n)
  const stored = { order: captured(word('a')), attempt, proofs: [before] }
  const { version: _, ...proof } = proofAt(word('c'), 8n)
  const changes = settleOrder(stored, { kind: 'capture', proof }, 0n)
  expect(changes.orders).toMatchObject([
    { state: 'captured', overpaid: false, settledHash: word('c') },
  ])
  expect(changes.events.map(({ type }) => type)).toEqual(['captured'])
  expect(changes.newProofs).toEqual([proof])
  expect(changes.proofs).toEqual([{ ...before, removed: true }])
})

test('another nonce that pays an order pays it once too often', () => {
  const before = proofAt(word('a'), 9n)
  const stored = {
    order: captured(word('a')),
    attempt: { ...attempt, number: 2, nonce: word('d') },
    proofs: [before],
  }
  const { version: _, ...proof } = proofAt(word('a'), 9n, {
    logIndex: 4,
    attempt: 2,
  })
  const changes = settleOrder(stored, { kind: 'capture', proof }, 0n)
  expect(changes.orders).toMatchObject([
    { state: 'captured', overpaid: true, settledHash: word('a') },
  ])
  expect(changes.events.map(({ type }) => type)).toEqual(['overpaid'])
  expect(changes.proofs).toEqual([])
})

test('two payments of one order that are found together are a payment and one too many', () => {
  const second = { ...attempt, number: 2, nonce: word('d') }
  const stored: StoredOrder = {
    order: { ...order, state: 'capturing', attempt: 2 },
    attempt: second,
    attempts: [attempt, second],
    proofs: [],
  }
  const collected = collectChanges(new Map([['one', stored]]))
  for (const number of [1, 2]) {
    const stored = collected.find('one', number)
    if (!stored) throw new Error('no file')
    const fields = { attempt: number, logIndex: number }
    const { version: _, ...proof } = proofAt(word('a'), 9n, fields)
    collected.add(settleOrder(stored, { kind: 'capture', proof }, 0n))
  }
  const { orders, events, newProofs } = collected.close()
  expect(orders).toMatchObject([{ state: 'captured', overpaid: true }])
  expect(events.map(({ type }) => type)).toEqual(['captured', 'overpaid'])
  expect(newProofs).toHaveLength(2)
})

test('a transaction that moved to another place of another block is on record once', () => {
  const before = proofAt(word('a'), 9n)
  const stored = { order: captured(word('a')), attempt, proofs: [before] }
  const place = { logIndex: 4, blockHash: word('f') }
  const { version: _, ...proof } = proofAt(word('a'), 9n, place)
  const changes = settleOrder(stored, { kind: 'capture', proof }, 0n)
  expect(changes.newProofs).toEqual([proof])
  expect(changes.proofs).toEqual([{ ...before, removed: true }])
})
