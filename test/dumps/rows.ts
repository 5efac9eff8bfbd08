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

/** What the dumps of version 1 hold. */
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
  setting: { watch: { block: '7' } },
}
