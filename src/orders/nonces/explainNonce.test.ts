import { type Address, createClient, type Hash, http } from 'viem'
import { expect, test } from 'vitest'
import type { ProofReceipt } from '../../core/receiptProof.js'
import type { TransactionRecord } from '../../store/types.js'
import { openAccountNonces } from '../account/accountNonces.js'
import { nextBump } from '../account/inFlight.js'
import { judgeNonces } from './explainNonce.js'

const account: Address = `0x${'a'.repeat(40)}`
const hashOf = (digit: number): Hash => `0x${String(digit).repeat(64)}`

function rowOf(changes: Partial<TransactionRecord>): TransactionRecord {
  return {
    chainId: 1,
    account,
    nonce: 5,
    bump: 0,
    version: 1,
    kind: 'capture',
    movements: [{ orderId: 'order', attempt: 1 }],
    hash: undefined,
    raw: undefined,
    gas: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    recordedAt: 0n,
    inFlight: true,
    ...changes,
  }
}

function receiptOf(
  transactionHash: Hash,
  status: ProofReceipt['status'],
): [Hash, ProofReceipt] {
  const receipt: ProofReceipt = {
    transactionHash,
    status,
    blockHash: hashOf(9),
    blockNumber: 1n,
    blockTime: 1n,
    from: account,
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    logs: [],
  }
  return [transactionHash, receipt]
}

const rows = [
  rowOf({ hash: hashOf(1) }),
  rowOf({ hash: hashOf(2), bump: 1 }),
  rowOf({ hash: hashOf(3), bump: 2, kind: 'filler' }),
]

/** A submitter whose wallet signs and sends by itself. */
const submitterOf = (ignoresNonce: boolean) => ({
  inFlight: { rows },
  nonces: { value: { nextNonce: 6, ignoresNonce } },
  wallet: {
    client: createClient({ transport: http('http://localhost') }),
    account: { address: account, type: 'json-rpc' } as const,
    submitter: { chainId: 1, account },
  },
})

test.each([
  ['nothing mined', [], 'pending', 'unknown'],
  ['a filler mined', [receiptOf(hashOf(3), 'success')], 'mined', 'unknown'],
  ['one of two failed', [receiptOf(hashOf(1), 'reverted')], 'mined', 'unknown'],
  [
    'both failed',
    [receiptOf(hashOf(1), 'reverted'), receiptOf(hashOf(2), 'reverted')],
    'mined',
    'mined',
  ],
  [
    'one failed, one did not',
    [receiptOf(hashOf(1), 'reverted'), receiptOf(hashOf(2), 'success')],
    'mined',
    'mined',
  ],
] as const)(
  'with %s, a nonce is %s where the wallet keeps it, and %s where it does not',
  (_, mined, kept, ignored) => {
    const receipts = new Map<Hash, ProofReceipt>(mined)
    const judged = [false, true].map((ignoresNonce) =>
      judgeNonces(submitterOf(ignoresNonce), { receipts, count: 5 }),
    )
    expect(judged).toMatchObject([[{ kind: kept }], [{ kind: ignored }]])
  },
)

test('what succeeded decides a nonce before what failed', () => {
  const receipts = new Map<Hash, ProofReceipt>([
    receiptOf(hashOf(1), 'reverted'),
    receiptOf(hashOf(2), 'success'),
  ])
  const [judged] = judgeNonces(submitterOf(true), { receipts, count: 5 })
  expect(judged).toMatchObject({ kind: 'mined', row: { hash: hashOf(2) } })
})

test('a bump follows all on record at its nonce, closed ones as well', () => {
  expect(nextBump([])).toBe(0)
  expect(nextBump([{ bump: 0 }, { bump: 3 }, { bump: 1 }])).toBe(4)
})

test('a passed nonce is noticed once in a poll, however many payments ask', () => {
  const nonces = openAccountNonces()
  const looks = [1, 1, 1, 2].map((look) => nonces.noticeLost(5, look).looks)
  expect(looks).toEqual([1, 1, 1, 2])
})
