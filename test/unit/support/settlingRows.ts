import type { Hash } from 'viem'
import { draftedOrder } from '../../../src/orders/model/draftedRows.js'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../../src/store/types.js'

export const word = (digit: string): Hash => `0x${digit.repeat(64)}`
const address = (digit: string) => `0x${digit.repeat(40)}` as const

export const destination = {
  chainId: 31337,
  token: address('1'),
  recipient: address('2'),
}

export const order: OrderRecord = {
  ...draftedOrder,
  ...destination,
  id: 'one',
  version: 3,
  position: 1n,
  sequence: 4,
  submitter: destination.recipient,
  state: 'stored',
  kind: 'eip3009',
  total: 'amount',
  value: 5n,
  decimals: 6,
  primaryType: 'TransferWithAuthorization',
  tokenName: 'Coin',
  tokenVersion: '2',
  payer: address('3'),
  buyerTokenHash: word('4'),
  metadata: {},
  createdAt: 100n,
  deadline: 1000n,
}

export const attempt: AttemptRecord = {
  chainId: 31337,
  token: destination.token,
  orderId: 'one',
  number: 1,
  version: 2,
  nonce: word('5'),
  payer: address('3'),
  value: 5n,
  validAfter: 50n,
  validBefore: 1000n,
  signedAfter: 50n,
  signedBefore: 1000n,
  signatureHash: word('6'),
  spendableUntil: 1000n,
  terms: undefined,
  spendable: false,
  signature: 'sealed',
  cancellation: undefined,
}

/** A proof in the block of a number. */
export function proofAt(
  transactionHash: Hash,
  block: bigint,
  fields: Partial<ProofRecord> = {},
): ProofRecord {
  return {
    ...destination,
    transactionHash,
    logIndex: 1,
    version: 1,
    kind: 'capture',
    orderId: 'one',
    attempt: 1,
    blockHash: word('7'),
    blockNumber: block,
    blockTime: 500n,
    payer: address('3'),
    value: 5n,
    submitter: address('8'),
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    removed: false,
    ...fields,
  }
}

export const captured = (settledHash: Hash): OrderRecord => ({
  ...order,
  state: 'captured',
  settledHash,
  settledBlock: 9n,
  finality: 'included',
})
