import { type Address, type Hex, padHex, toHex } from 'viem'
import { expect, test } from 'vitest'
import { samplePayment } from '../testing/samplePayment.js'
import { type ProofReceipt, proveCapture, proves } from './receiptProof.js'
import { topics } from './tokenAbi.js'

const payment = samplePayment({
  from: `0x${'aa'.repeat(20)}`,
  to: `0x${'bb'.repeat(20)}`,
  nonce: `0x${'cc'.repeat(32)}`,
})
const { from, to, value, nonce } = payment.message
const token = payment.domain.verifyingContract
const other: Address = `0x${'dd'.repeat(20)}`

type Log = ProofReceipt['logs'][number]
const log = (words: readonly Hex[], data: Hex = '0x', address = token): Log => {
  const padded = words.map((topic) => padHex(topic))
  return { address, topics: padded, data, logIndex: 0 }
}
const used = (payer = from, spent = nonce): Log =>
  log([topics.used, payer, spent])
const moved = (amount = value, recipient = to, payer = from): Log =>
  log([topics.transfer, payer, recipient], toHex(amount, { size: 32 }))
const canceled = log([topics.canceled, from, nonce])

const receipt = (
  logs: readonly Log[],
  fields: Partial<ProofReceipt> = {},
): ProofReceipt => ({
  status: 'success',
  transactionHash: `0x${'01'.repeat(32)}`,
  blockHash: `0x${'02'.repeat(32)}`,
  blockNumber: 7n,
  from: other,
  gasUsed: 90_000n,
  effectiveGasPrice: 5n,
  logs: logs.map((entry, index) => ({ ...entry, logIndex: 40 + index })),
  ...fields,
})

const proof = {
  transactionHash: `0x${'01'.repeat(32)}`,
  blockHash: `0x${'02'.repeat(32)}`,
  blockNumber: 7n,
  logIndex: 41,
  submitter: other,
  gasUsed: 90_000n,
  effectiveGasPrice: 5n,
}

test('the event and then the exact transfer prove a capture', () => {
  expect(proveCapture(receipt([used(), moved()]), payment)).toEqual(proof)
})

test('the proof names the transfer behind logs of others', () => {
  const foreign = { ...used(), address: other }
  const logs = [moved(), used(), foreign, moved(1n), moved()]
  expect(proveCapture(receipt(logs), payment)).toEqual({
    ...proof,
    logIndex: 44,
  })
})

test.each<[string, readonly Log[]]>([
  ['no logs', []],
  ['the event alone', [used()]],
  ['the transfer alone', [moved()]],
  ['the transfer before the event', [moved(), used()]],
  [
    'the transfer after the next event',
    [used(), used(from, `0x${'ee'.repeat(32)}`), moved()],
  ],
  ['the transfer after the next event of another', [used(), used(to), moved()]],
  ['an event of another payer', [used(other), moved()]],
  ['an event of another nonce', [used(from, `0x${'ee'.repeat(32)}`), moved()]],
  ['the event of another token', [{ ...used(), address: other }, moved()]],
  ['the transfer of another token', [used(), { ...moved(), address: other }]],
  ['another value', [used(), moved(value + 1n)]],
  ['another recipient', [used(), moved(value, other)]],
  ['another payer', [used(), moved(value, to, other)]],
  ['two transfers that add up', [used(), moved(value - 1n), moved(1n)]],
  ['a value without padding', [used(), { ...moved(), data: toHex(value) }]],
  ['a cancellation', [canceled, moved()]],
  [
    'a transfer with the value as a topic',
    [used(), log([topics.transfer, from, to, toHex(value)])],
  ],
])('%s proves no capture', (_, logs) => {
  expect(proveCapture(receipt(logs), payment)).toBeUndefined()
})

test('a reverted receipt proves nothing', () => {
  const reverted = receipt([used(), moved(), canceled], { status: 'reverted' })
  expect(proveCapture(reverted, payment)).toBeUndefined()
  const message = { authorizer: from, nonce }
  expect(proves(reverted, 'used', message, token)).toBe(false)
  expect(proves(reverted, 'canceled', message, token)).toBe(false)
})

const upper = <text extends string>(text: text): text =>
  text.toUpperCase().replace('0X', '0x') as text

test('letter case does not matter, on either side', () => {
  const shouted = receipt(
    [used(), moved()].map((entry) => ({
      ...entry,
      address: upper(entry.address),
      topics: entry.topics.map(upper),
      data: upper(entry.data),
    })),
    { from: upper(other) },
  )
  const typed = samplePayment({
    from: upper(from),
    to: upper(to),
    nonce: upper(nonce),
    domain: { verifyingContract: upper(token) },
  })
  expect(proveCapture(shouted, payment)).toEqual(proof)
  expect(proveCapture(receipt([used(), moved()]), typed)).toEqual(proof)
})

test('only the event of this token, payer and nonce proves its kind', () => {
  const message = { authorizer: upper(from), nonce: upper(nonce) }
  const both = receipt([used(), canceled])
  expect(proves(both, 'used', message, upper(token))).toBe(true)
  expect(proves(both, 'canceled', message, upper(token))).toBe(true)
  expect(proves(receipt([used()]), 'canceled', message, token)).toBe(false)
  expect(proves(receipt([canceled]), 'used', message, token)).toBe(false)
  expect(proves(both, 'canceled', message, other)).toBe(false)
  expect(proves(both, 'canceled', { ...message, authorizer: to }, token)).toBe(
    false,
  )
  expect(
    proves(both, 'canceled', { ...message, nonce: topics.used }, token),
  ).toBe(false)
})
