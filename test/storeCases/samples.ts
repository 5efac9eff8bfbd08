import type { Address, Hash } from 'viem'
import type {
  AttemptRecord,
  Destination,
  EventRecord,
  OrderRecord,
  ProofRecord,
  Submitter,
  TransactionRecord,
} from '../../src/store/types.js'

export type NewOrder = Omit<OrderRecord, 'version' | 'position'>
export type NewAttempt = Omit<AttemptRecord, 'version'>
export type NewTransaction = Omit<TransactionRecord, 'version'>
export type NewProof = Omit<ProofRecord, 'version'>
export type NewEventRecord = Omit<EventRecord, 'cursor'>

export const maxAmount: bigint = 2n ** 256n - 1n
/** The largest time and block number that a store must accept. */
export const maxTime: bigint = 2n ** 63n - 1n

/**
 * Text with quotes, line ends, and characters of one to four bytes in UTF-8.
 */
export const oddText = 'USD₮0 "\'\\ $x \n\t\u2028 é e\u0301 🧾 ×10³ שלום'

export function drawHash(): Hash {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

export function drawId(): string {
  return drawHash().slice(2, 34)
}

export function drawAddress(): Address {
  return `0x${drawHash().slice(2, 42)}`
}

export function drawDestination(facts: Partial<Destination> = {}): Destination {
  return {
    chainId: 8453,
    token: drawAddress(),
    recipient: drawAddress(),
    ...facts,
  }
}

/** Returns a submitter (chain and sending account) with a random account. */
export function drawSubmitter(facts: Partial<Submitter> = {}): Submitter {
  return { chainId: 8453, account: drawAddress(), ...facts }
}

/** Returns a drafted order in which every optional member is absent. */
export function sampleOrder(
  destination: Destination,
  facts: Partial<NewOrder> = {},
): NewOrder {
  return {
    ...pickDestination(destination),
    id: drawId(),
    sequence: 0,
    submitter: destination.recipient,
    state: 'drafted',
    attempt: 1,
    kind: 'eip3009',
    total: 'amount',
    value: 12_500_000n,
    captureValue: undefined,
    decimals: 6,
    primaryType: 'ReceiveWithAuthorization',
    tokenName: 'USD Coin',
    tokenVersion: '2',
    payer: undefined,
    buyerTokenHash: drawHash(),
    metadata: {},
    createdAt: 1_750_000_000n,
    deadline: 1_750_000_900n,
    sendDue: undefined,
    lookDue: undefined,
    requested: undefined,
    reason: undefined,
    tries: 0,
    needsReview: false,
    unexpected: false,
    overpaid: false,
    fulfilled: undefined,
    finality: undefined,
    settledHash: undefined,
    settledBlock: undefined,
    refunds: 0,
    role: 'sale',
    parentId: undefined,
    parentAttempt: undefined,
    payee: undefined,
    early: undefined,
    earlyFor: undefined,
    ...facts,
  }
}

/**
 * Returns all optional members of an order, with the largest values that a
 * store must accept.
 */
export function fullOrderFacts(): Partial<NewOrder> {
  return {
    sequence: Number.MAX_SAFE_INTEGER,
    state: 'captured',
    attempt: 2 ** 31 - 1,
    kind: oddText,
    total: 'atMost',
    value: maxAmount,
    captureValue: maxAmount,
    decimals: 255,
    primaryType: 'Permit',
    tokenName: oddText,
    tokenVersion: oddText,
    payer: drawAddress(),
    metadata: {
      text: oddText,
      [oddText]: [1, -1.5, 1e21, null, true, { deep: [[]] }, '\u0000'],
      amount: `${maxAmount}`,
    },
    createdAt: maxTime,
    deadline: maxTime,
    sendDue: maxTime,
    lookDue: maxTime,
    requested: 'capture',
    // A newer version of this library may write reasons that this version does
    // not know. The store must keep them.
    reason: String(oddText) as NewOrder['reason'],
    tries: 2 ** 31 - 1,
    needsReview: true,
    unexpected: true,
    overpaid: true,
    fulfilled: `${drawId()}/${drawHash()}`,
    finality: 'finalized',
    settledHash: drawHash(),
    settledBlock: maxTime,
    refunds: 2 ** 31 - 1,
    role: 'refund',
    parentId: drawId(),
    parentAttempt: 2 ** 31 - 1,
    payee: drawAddress(),
    early: 'unpaid',
    earlyFor: oddText,
  }
}

/** Returns an attempt (one payment message of an order) that is not signed. */
export function sampleAttempt(
  { token, chainId, id }: Pick<NewOrder, 'token' | 'chainId' | 'id'>,
  facts: Partial<NewAttempt> = {},
): NewAttempt {
  return {
    chainId,
    token,
    orderId: id,
    number: 1,
    nonce: drawHash(),
    payer: undefined,
    validAfter: 1_750_000_000n,
    validBefore: 1_750_000_900n,
    signedAfter: undefined,
    signedBefore: undefined,
    signatureHash: undefined,
    spendableUntil: undefined,
    value: 12_500_000n,
    terms: undefined,
    spendable: false,
    signature: undefined,
    cancellation: undefined,
    ...facts,
  }
}

/** Returns all optional members of an attempt, with large values. */
export function fullAttemptFacts(): Partial<NewAttempt> {
  return {
    number: 2 ** 31 - 1,
    payer: drawAddress(),
    validAfter: 0n,
    validBefore: maxTime,
    signedAfter: 0n,
    signedBefore: maxTime,
    signatureHash: drawHash(),
    spendableUntil: maxTime,
    value: maxAmount,
    terms: { operator: drawAddress(), [oddText]: oddText },
    spendable: true,
    signature: `{"sealed":"${'x'.repeat(40_000)}"}`,
    cancellation: oddText,
  }
}

/**
 * Returns a transaction without signed bytes, as it is stored for a wallet that
 * signs and sends in one step.
 */
export function sampleTransaction(
  submitter: Submitter,
  facts: Partial<NewTransaction> = {},
): NewTransaction {
  return {
    chainId: submitter.chainId,
    account: submitter.account,
    nonce: 0,
    bump: 0,
    kind: 'capture',
    movements: [],
    hash: undefined,
    raw: undefined,
    gas: 90_000n,
    maxFeePerGas: 2_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
    recordedAt: 1_750_000_000_000n,
    inFlight: true,
    ...facts,
  }
}

/** Returns all optional members of a transaction, with large values. */
export function fullTransactionFacts(): Partial<NewTransaction> {
  return {
    nonce: Number.MAX_SAFE_INTEGER,
    bump: 2 ** 31 - 1,
    kind: 'filler',
    movements: [3, 1, Number.MAX_SAFE_INTEGER].map((attempt) => ({
      orderId: drawId(),
      attempt,
    })),
    hash: drawHash(),
    raw: oddText,
    gas: maxTime,
    maxFeePerGas: maxTime * 4n,
    maxPriorityFeePerGas: maxTime * 4n,
    recordedAt: maxTime,
    inFlight: false,
  }
}

/** Returns a proof (the log that proves a payment) that belongs to no order. */
export function sampleProof(
  destination: Destination,
  facts: Partial<NewProof> = {},
): NewProof {
  return {
    ...pickDestination(destination),
    transactionHash: drawHash(),
    logIndex: 0,
    kind: 'unmatched',
    orderId: undefined,
    attempt: undefined,
    blockHash: drawHash(),
    blockNumber: 1n,
    blockTime: 1_750_000_000n,
    payer: drawAddress(),
    value: 12_500_000n,
    submitter: drawAddress(),
    gasUsed: 90_000n,
    effectiveGasPrice: 1_000_000n,
    removed: false,
    ...facts,
  }
}

/** Returns all optional members of a proof, with large values. */
export function fullProofFacts(): Partial<NewProof> {
  return {
    logIndex: 2 ** 31 - 1,
    kind: 'capture',
    orderId: drawId(),
    attempt: 3,
    blockNumber: maxTime,
    blockTime: maxTime,
    value: maxAmount,
    gasUsed: maxTime,
    effectiveGasPrice: maxTime * 4n,
    removed: true,
  }
}

/** Returns an event that concerns no order. */
export function sampleEvent(
  destination: Destination,
  facts: Partial<NewEventRecord> = {},
): NewEventRecord {
  return {
    ...pickDestination(destination),
    orderId: undefined,
    sequence: 1,
    type: 'drafted',
    at: 1_750_000_000_000n,
    data: {},
    ...facts,
  }
}

function pickDestination({
  chainId,
  token,
  recipient,
}: Destination): Destination {
  return { chainId, token, recipient }
}
