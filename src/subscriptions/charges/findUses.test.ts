import { type Address, encodeAbiParameters, type Hex } from 'viem'
import { expect, test } from 'vitest'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import { buildSpendPermission } from '../permission/buildSpendPermission.js'
import { findUses, usedTopics } from './findUses.js'

const address = (end: string): Address => `0x${end.padStart(40, '0')}`
const [account, spender, token, other] = ['a1', 'b2', 'c3', 'd4'].map(address)
const permission = buildSpendPermission({
  chainId: 31337,
  account: account ?? address('1'),
  spender: spender ?? address('2'),
  token: token ?? address('3'),
  allowance: '10',
  period: 100n,
  start: 1000n,
  salt: 1n,
})
const manager = permission.domain.verifyingContract

type Log = ProofReceipt['logs'][number]

const used = (value: bigint, from: Address = manager): Log => ({
  address: from,
  topics: usedTopics(permission),
  data: encodeAbiParameters(
    [
      { type: 'address' },
      { type: 'uint48' },
      { type: 'uint48' },
      { type: 'uint160' },
    ],
    [permission.message.token, 1100, 1200, value],
  ),
  logIndex: 0,
})

const transfer = (
  value: bigint,
  { from = token, to = spender }: { from?: Address; to?: Address } = {},
): Log => ({
  address: from ?? manager,
  topics: [topics.transfer, `0x${word(account ?? '')}`, `0x${word(to ?? '')}`],
  data: `0x${word(value)}`,
  logIndex: 7,
})

const hash: Hex = `0x${'ab'.repeat(32)}`

const receipt = (
  logs: readonly Log[],
  status: ProofReceipt['status'] = 'success',
): ProofReceipt => ({
  status,
  transactionHash: hash,
  blockHash: hash,
  blockNumber: 1n,
  from: permission.message.spender,
  gasUsed: 1n,
  effectiveGasPrice: 1n,
  logs,
})

const proofs = (...logs: Log[]) =>
  findUses(receipt(logs), permission).map(({ logIndex }) => logIndex)

test('a charge is proven by the event of the manager and the exact transfer', () => {
  expect(findUses(receipt([used(5n), transfer(5n)]), permission)).toEqual([
    { value: 5n, periodStart: 1100n, periodEnd: 1200n, logIndex: 7 },
  ])
})

test('the event of the manager alone proves no charge', () => {
  expect(proofs(used(5n))).toEqual([undefined])
})

test.each([
  ['another amount', transfer(4n)],
  ['another token', transfer(5n, { from: other ?? manager })],
  ['another account', transfer(5n, { to: other ?? manager })],
])('a transfer of %s proves no charge', (_, log) => {
  expect(proofs(used(5n), log)).toEqual([undefined])
})

test('a transfer before the event proves no charge', () => {
  expect(proofs(transfer(5n), used(5n))).toEqual([undefined])
})

test('one transfer proves one charge', () => {
  expect(proofs(used(5n), used(5n), transfer(5n))).toEqual([undefined, 7])
})

test('the event of another contract is no use of the permission', () => {
  expect(proofs(used(5n, other), transfer(5n))).toEqual([])
})

test('a reverted transaction used nothing', () => {
  const reverted = receipt([used(5n), transfer(5n)], 'reverted')
  expect(findUses(reverted, permission)).toEqual([])
})
