import { expect, test } from 'vitest'
import type { CallAnswer, RunHead } from '../../chain/state/types.js'
import { refine } from './judgeRehearsal.js'
import type { FactName } from './types.js'

const word = (value: number): CallAnswer => ({
  ok: true,
  data: `0x${value.toString(16).padStart(64, '0')}`,
  hasCode: true,
})

const head: RunHead = {
  chainId: 1,
  number: 1n,
  timestamp: 100n,
  via: 'override',
}

const noFacts: Readonly<Record<FactName, CallAnswer>> = {
  token: word(0),
  payer: word(0),
  consumed: word(0),
  balance: word(0),
  decimals: word(0),
  separator: word(0),
  eip712Domain: word(0),
  payerBlacklisted: word(0),
  payerFrozen: word(0),
  recipientBlacklisted: word(0),
  recipientFrozen: word(0),
  bytes: word(0),
}

const call = {
  domain: {
    name: 'Coin',
    version: '1',
    chainId: 1,
    verifyingContract: `0x${'2'.repeat(40)}`,
  },
  signature: '0x',
} as const

test.each([
  [[], 'payerBlocked'],
  [['payerBlacklisted'], 'payerBlocked'],
  [['payerFrozen'], 'payerBlocked'],
  [['recipientBlacklisted'], 'recipientBlocked'],
  [['recipientFrozen'], 'recipientBlocked'],
  [['payerBlacklisted', 'recipientBlacklisted'], 'payerBlocked'],
  [['payerFrozen', 'recipientFrozen'], 'payerBlocked'],
  [['payerBlacklisted', 'recipientFrozen'], 'payerBlocked'],
] as const)(
  'the recipient is blamed for a block only if the payer has none: %s',
  (blocked: readonly FactName[], reason) => {
    const facts = Object.fromEntries(blocked.map((name) => [name, word(1)]))
    const calls = { ...noFacts, ...facts }
    expect(refine('blocked', call, { head, calls })).toBe(reason)
  },
)
