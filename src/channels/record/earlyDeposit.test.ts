import { expect, test } from 'vitest'
import type { ChannelRecord, OrderRecord } from '../../store/types.js'
import { copyChain } from './copyChain.js'
import { creditEarly, letGoDeposit } from './earlyDeposit.js'
import { newChannel } from './newChannel.js'

const address = `0x${'11'.repeat(20)}` as const
const word = `0x${'22'.repeat(32)}` as const

const opening: ChannelRecord = {
  ...newChannel(
    {
      id: word,
      chainId: 31337,
      token: address,
      recipient: address,
      payer: address,
      payerAuthorizer: address,
      receiverAuthorizer: address,
      withdrawDelay: 900,
      salt: word,
    },
    100n,
  ),
  depositId: 'deposit',
  version: 1,
  position: 1n,
}

const chain = {
  balance: 0n,
  claimed: 0n,
  withdrawal: undefined,
  refundNonce: 0n,
  at: { blockNumber: 5n, blockTime: 50n },
}

const early = { depositId: 'deposit', before: 0n, value: 1_000n }
const credited = creditEarly(opening, early)
const charged: ChannelRecord = { ...opening, ...credited, charged: 300n }

/** The deposit's row, as far as a copy of the chain looks at it. */
const depositOf = (changes: Partial<OrderRecord> = {}) =>
  ({ state: 'capturing', value: 1_000n, ...changes }) as OrderRecord

test('a pre-confirmed deposit counts until a block has it', () => {
  expect(credited).toMatchObject({
    state: 'open',
    reason: 'preconfirmed',
    balance: 1_000n,
  })
  expect(copyChain(charged, chain, depositOf())).toMatchObject({
    state: 'open',
    reason: 'preconfirmed',
    balance: 1_000n,
  })
  expect(copyChain(charged, { ...chain, balance: 1_000n })).toMatchObject({
    state: 'open',
    reason: undefined,
    balance: 1_000n,
  })
})

/** Has an earlier deposit of 500 too, and was credited 1,000 early. */
const toppedUp: ChannelRecord = { ...charged, balance: 1_500n }

test.each([
  ['that can still come', 1_000n, {}],
  ['that a later block has', 1_000n, { state: 'captured', settledBlock: 6n }],
  ['that this block has', 0n, { state: 'captured', settledBlock: 5n }],
  ['that was refused', 0n, { state: 'stored', requested: undefined }],
] as const)(
  'once a reorganization undid an earlier deposit, only one %s counts: %s',
  (_, balance, changes) => {
    expect(copyChain(toppedUp, chain, depositOf(changes))).toMatchObject({
      balance,
      reason: balance > 0n ? 'preconfirmed' : 'uncovered',
    })
  },
)

test('a deposit that is gone leaves charges uncovered', () => {
  const kept = letGoDeposit(charged)
  expect(kept).toMatchObject({ depositId: undefined, reason: undefined })
  expect(copyChain(kept, chain)).toMatchObject({
    state: 'stopped',
    reason: 'uncovered',
    balance: 0n,
  })
})

test('a withdrawal ends the early credit', () => {
  const withdrawal = { value: 1n, initiatedAt: 40n }
  const copied = copyChain(charged, { ...chain, withdrawal })
  expect(copied).toMatchObject({ state: 'stopped', reason: 'withdrawal' })
  expect(copyChain(copied, chain).balance).toBe(0n)
})

test.each([
  ['whose balance has changed', { balance: 1n }],
  ['that follows the deposit no more', { depositId: undefined }],
  ['that follows a later deposit', { depositId: 'later' }],
  ['that the merchant stopped', { state: 'stopped', reason: 'merchant' }],
  ['with a refund on its way', { state: 'stopped', reason: 'refund' }],
  ['that does not cover its charges', { charged: 1_001n }],
] as const)('a channel %s gets no early credit', (_, changes) => {
  const row: ChannelRecord = { ...opening, ...changes }
  expect(creditEarly(row, early)).toBeUndefined()
})
