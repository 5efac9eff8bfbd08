import type { ChannelRecord } from '../../src/store/types.js'
import {
  type NewOrder,
  sampleAttempt,
  sampleEvent,
  sampleOrder,
  sampleProof,
  sampleTransaction,
} from '../storeCases/samples.js'

const bytes = (digit: string, length: number) =>
  `0x${digit.repeat(length * 2)}` as const

const destination = {
  chainId: 8453,
  token: bytes('1', 20),
  recipient: bytes('2', 20),
}

const sample = (facts: Partial<NewOrder>): NewOrder =>
  sampleOrder(destination, { buyerTokenHash: bytes('3', 32), ...facts })

/** What the dumps hold: the channel in that of version 2. */
export const dumped = {
  destination,
  drafted: sample({ id: 'drafted', metadata: { cart: ['tea', 2] } }),
  captured: sample({
    id: 'captured',
    state: 'captured',
    value: 2n ** 256n - 1n,
    tokenName: `"O'Hara" \\ ₮`,
    payer: bytes('4', 20),
    sendDue: 5n,
    lookDue: 6n,
    needsReview: true,
    finality: 'safe',
    settledHash: bytes('5', 32),
    settledBlock: 7n,
  }),
  attempt: sampleAttempt(
    { ...destination, id: 'captured' },
    { nonce: bytes('6', 32), spendable: true, signature: '{"sealed":"…"}' },
  ),
  transaction: sampleTransaction(
    { chainId: 8453, account: bytes('2', 20) },
    {
      movements: ['captured', 'drafted'].map((orderId) => ({
        orderId,
        attempt: 1,
      })),
      hash: bytes('7', 32),
    },
  ),
  proof: sampleProof(destination, {
    transactionHash: bytes('7', 32),
    blockHash: bytes('8', 32),
    payer: bytes('4', 20),
    submitter: bytes('2', 20),
    orderId: 'captured',
  }),
  event: sampleEvent(destination, {
    orderId: 'captured',
    data: { finality: 'safe' },
  }),
  channel: {
    ...destination,
    id: bytes('9', 32),
    payer: bytes('4', 20),
    payerAuthorizer: bytes('5', 20),
    receiverAuthorizer: bytes('6', 20),
    withdrawDelay: 900,
    salt: bytes('0', 32),
    state: 'open',
    reason: undefined,
    charged: 5n,
    signed: 2n ** 128n - 1n,
    voucher: 'key-1 1 a',
    balance: 2n ** 128n - 1n,
    claimed: 3n,
    withdrawing: 0n,
    withdrawableAt: undefined,
    refundNonce: 1n,
    seenBlock: 7n,
    seenAt: 1_750_000_000n,
    depositId: undefined,
    unclaimedSince: 1_750_000_001n,
    due: 1_750_000_600n,
    usedAt: 1_750_000_001n,
  } satisfies Omit<ChannelRecord, 'version' | 'position'>,
  setting: { watch: { block: '7' } },
}
