import { draftedOrder } from '../../../src/orders/model/draftedRows.js'
import type { AttemptRecord, OrderRecord } from '../../../src/store/types.js'

const word = `0x${'5'.repeat(64)}` as const
const address = `0x${'1'.repeat(40)}` as const

/** An order that is paid and due. */
export const storedOrder: OrderRecord = {
  ...draftedOrder,
  chainId: 1,
  token: address,
  recipient: address,
  submitter: address,
  id: 'one',
  version: 1,
  position: 1n,
  sequence: 2,
  state: 'stored',
  kind: 'eip3009',
  total: 'amount',
  value: 5n,
  decimals: 6,
  payer: address,
  primaryType: 'TransferWithAuthorization',
  metadata: {},
  tokenName: 'Coin',
  tokenVersion: '2',
  buyerTokenHash: word,
  createdAt: 0n,
  deadline: 200n,
  sendDue: 0n,
}

/** Signed until 900 first, and then again until 200. */
export const storedAttempt: AttemptRecord = {
  chainId: 1,
  token: address,
  orderId: 'one',
  number: 1,
  version: 1,
  nonce: word,
  payer: address,
  value: 5n,
  signatureHash: word,
  validAfter: 0n,
  validBefore: 200n,
  signedAfter: 0n,
  terms: undefined,
  spendable: true,
  signedBefore: 200n,
  spendableUntil: 900n,
  signature: 'sealed',
  cancellation: 'sealed',
}
