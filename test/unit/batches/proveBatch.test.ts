import type { SignedPayment } from 'countersign'
import { type BatchReceipt, proveBatch } from 'countersign/batches'
import { samplePayment } from 'countersign/testing'
import {
  type Address,
  encodeAbiParameters,
  encodeErrorResult,
  type Hex,
  padHex,
  parseAbi,
  parseAbiParameters,
  toEventSelector,
  toHex,
} from 'viem'
import { expect, test } from 'vitest'
import { topics } from '../../../src/core/tokenAbi.js'

const account: Address = `0x${'ee'.repeat(20)}`
const payments: readonly SignedPayment[] = [1, 2, 3, 4].map((digit) => ({
  ...samplePayment({
    from: padHex(toHex(digit), { size: 20 }),
    nonce: padHex(toHex(digit), { size: 32 }),
  }),
  signature: `0x${'11'.repeat(64)}1b`,
}))
const token = payments[0]?.domain.verifyingContract ?? account

type Log = BatchReceipt['logs'][number]
const log = (words: readonly Hex[], data: Hex = '0x', address = token): Log => {
  const padded = words.map((word) => padHex(word, { size: 32 }))
  return { address, topics: padded, data, logIndex: 0 }
}

const used = ({ message: { from, nonce } }: SignedPayment): Log =>
  log([topics.used, from, nonce])
const moved = ({ message }: SignedPayment, value = message.value): Log =>
  log([topics.transfer, message.from, message.to], toHex(value, { size: 32 }))
const canceled = ({ message: { from, nonce } }: SignedPayment): Log =>
  log([topics.canceled, from, nonce])
const failed = (index: bigint, words: string, address = account): Log => {
  const abi = parseAbi(['error Error(string)'])
  const data = encodeErrorResult({ abi, errorName: 'Error', args: [words] })
  return log(
    [toEventSelector('TryExecuteUnsuccessful(uint256,bytes)')],
    encodeAbiParameters(parseAbiParameters('uint256, bytes'), [index, data]),
    address,
  )
}

const receiptOf = (
  logs: readonly Log[],
  fields: Partial<BatchReceipt> = {},
): BatchReceipt => ({
  status: 'success',
  transactionHash: `0x${'01'.repeat(32)}`,
  blockHash: `0x${'02'.repeat(32)}`,
  blockNumber: 7n,
  from: account,
  gasUsed: 90_000n,
  effectiveGasPrice: 5n,
  logs: logs.map((entry, index) => ({ ...entry, logIndex: 40 + index })),
  ...fields,
})

const statusesIn = (receipt: BatchReceipt, list = payments): string[] =>
  proveBatch(receipt, { payments: list }).map(({ status }) => status)

const [one, two, three, four] = payments as [
  SignedPayment,
  SignedPayment,
  SignedPayment,
  SignedPayment,
]

test('each payment gets what its own logs show, whatever stands between', () => {
  const receipt = receiptOf([
    used(one),
    moved(one),
    canceled(two),
    used(three),
    moved(three, 1n),
    log([topics.transfer, account], '0x'),
  ])
  const outcomes = proveBatch(receipt, { payments })
  expect(outcomes.map(({ status }) => status)).toEqual([
    'captured',
    'canceled',
    'consumed',
    'failed',
  ])
  expect(outcomes[0]).toMatchObject({
    proof: { logIndex: 41, finality: 'included', gasUsed: 90_000n },
  })
  expect(outcomes[3]).toEqual({ status: 'failed', words: undefined })
})

test('the transfer of one payment proves no other', () => {
  const swapped = receiptOf([used(one), used(two), moved(one), moved(two)])
  expect(statusesIn(swapped, [one, two])).toEqual(['consumed', 'captured'])
  const elsewhere = { ...used(one), address: account }
  expect(statusesIn(receiptOf([elsewhere, moved(one)]), [one])).toEqual([
    'failed',
  ])
})

test('the order of payments and that of logs may differ, and a payment twice is the same twice', () => {
  const receipt = receiptOf([used(four), moved(four), used(one), moved(one)])
  expect(statusesIn(receipt, [one, two, four, one])).toEqual([
    'captured',
    'failed',
    'captured',
    'captured',
  ])
})

test('hex in upper case is read alike', () => {
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}` as Hex
  const shout = ({ topics: words, ...rest }: Log): Log => ({
    ...rest,
    address: upper(rest.address),
    topics: words.map(upper),
  })
  const nonce = `0x${'ab'.repeat(32)}` as Hex
  const other = { ...one, message: { ...one.message, nonce } }
  const receipt = receiptOf([shout(used(other)), shout(moved(other))])
  expect(statusesIn(receipt, [other])).toEqual(['captured'])
})

test('a transaction that reverted captured nothing, and one in no block is only pre-confirmed', () => {
  const logs = [used(one), moved(one)]
  const reverted = receiptOf(logs, { status: 'reverted' })
  expect(statusesIn(reverted)).toEqual(Array(4).fill('failed'))
  const blockHash = `0x${'0'.repeat(64)}` as const
  const [outcome] = proveBatch(receiptOf(logs, { blockHash }), {
    payments: [one],
  })
  expect(outcome).toMatchObject({ proof: { finality: 'preconfirmed' } })
})

test("the token's words come from the account's own log, by the index of the call", () => {
  const logs = [
    failed(1n, 'FiatTokenV2: authorization is used or canceled'),
    used(one),
    moved(one),
    failed(2n, 'forged', token),
  ]
  const found = proveBatch(receiptOf(logs), { payments, account })
  expect(
    found.map((it) => (it.status === 'failed' ? it.words : it.status)),
  ).toEqual([
    'captured',
    'FiatTokenV2: authorization is used or canceled',
    undefined,
    undefined,
  ])
  const without = proveBatch(receiptOf(logs), { payments })
  expect(without[1]).toEqual({ status: 'failed', words: undefined })
})

test.each(['0x', '0x12', `0x${'ff'.repeat(96)}`, `0x${'00'.repeat(70)}`])(
  "a delegate's odd log says nothing and breaks nothing: %s",
  (data) => {
    const [topic] = failed(0n, '').topics
    const odd = log([topic ?? '0x'], data as Hex, account)
    const found = proveBatch(receiptOf([odd, used(one), moved(one)]), {
      payments: [one, two],
      account,
    })
    expect(found.map(({ status }) => status)).toEqual(['captured', 'failed'])
  },
)

test('four hundred payments are told apart', () => {
  const many = Array.from({ length: 400 }, (_, index): SignedPayment => {
    const nonce = padHex(toHex(index + 1), { size: 32 })
    return { ...one, message: { ...one.message, nonce } }
  })
  const logs = many.flatMap((payment, index) =>
    index % 5 ? [used(payment), moved(payment)] : [],
  )
  const statuses = statusesIn(receiptOf(logs), many)
  expect(statuses.filter((it) => it === 'captured')).toHaveLength(320)
  expect(statuses[5]).toBe('failed')
})

test.each([
  [{ payments: 'all' }, /^payments must be a list/],
  [{ payments: [{ ...one, domain: 1 }] }, /^payment\.domain must be an object/],
  [{ payments: [], account: 'me' }, /^account must be an address/],
  [{ orders: [] }, /^parameters must be an object with only the members/],
])('parameters are refused: %o', (parameters, words) => {
  expect(() => proveBatch(receiptOf([]), parameters as never)).toThrow(words)
})
