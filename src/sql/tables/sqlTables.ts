import type {
  AttemptRecord,
  ChannelRecord,
  Destination,
  EarlyRow,
  EventRecord,
  Movement,
  NoteRecord,
  OrderRecord,
  ProofRecord,
  RecipientRecord,
  SubscriptionRecord,
  TransactionRecord,
} from '../../store/types.js'
import type { Columns, SqlRow } from './sqlColumns.js'

export type SqlTable<row> = {
  readonly name: keyof SqlTables & string
  readonly columns: Columns<row>
  readonly key: readonly (keyof row & string)[]
  /** Member whose value the database assigns on insert. */
  readonly given?: keyof row & string
  /** Most rows in one statement. @default 500 */
  readonly mostRows?: number
  /**
   * Members whose values together belong to one row only, archived rows
   * included: one list for each such rule. Absent if no archive has the rows, or
   * if the database numbers them.
   */
  readonly identities?: readonly (readonly (keyof row & string)[])[]
}

/** Tables whose rows belong to an order. The archive has one like each. */
type OrderTables = {
  orders: SqlRow<Columns<OrderRecord>>
  attempts: SqlRow<Columns<AttemptRecord>>
  transactions: SqlRow<Columns<TransactionRow>>
  movements: SqlRow<Columns<MovementRow>>
  proofs: SqlRow<Columns<ProofRecord>>
  events: SqlRow<Columns<EventRecord>>
}

export type ArchivedTable = keyof OrderTables

/**
 * Where rows of an order are: in the tables that workers search, or in those of
 * the archive.
 */
export type Side = 'live' | 'archive'

type ArchiveTables = {
  [name in ArchivedTable as `archived_${name}`]: OrderTables[name]
}

export type SqlTables = OrderTables &
  ArchiveTables & {
    notes: SqlRow<Columns<NoteRecord>>
    subscriptions: SqlRow<Columns<SubscriptionRecord>>
    channels: SqlRow<Columns<ChannelRecord>>
    recipients: SqlRow<Columns<RecipientRecord>>
    settings: { key: string; value: string }
    leases: { key: string; owner: string; fence: bigint; expires: bigint }
    counters: { name: string; last: bigint }
    versions: { version: bigint }
  }

const destination: Columns<Destination> = {
  chainId: 'number',
  token: 'bytes',
  recipient: 'bytes',
}

export const orderTable: SqlTable<OrderRecord> = {
  name: 'orders',
  key: ['id'],
  identities: [['id']],
  given: 'position',
  columns: {
    ...destination,
    id: 'text',
    version: 'number',
    position: 'bigint',
    sequence: 'number',
    submitter: 'bytes',
    state: 'text',
    attempt: 'number',
    kind: 'text',
    total: 'text',
    value: 'amount',
    captureValue: 'amount',
    decimals: 'number',
    primaryType: 'text',
    tokenName: 'text',
    tokenVersion: 'text',
    payer: 'bytes',
    buyerTokenHash: 'bytes',
    metadata: 'json',
    createdAt: 'bigint',
    deadline: 'bigint',
    sendDue: 'bigint',
    lookDue: 'bigint',
    requested: 'text',
    reason: 'text',
    tries: 'number',
    needsReview: 'boolean',
    unexpected: 'boolean',
    overpaid: 'boolean',
    fulfilled: 'text',
    finality: 'text',
    settledHash: 'bytes',
    settledBlock: 'bigint',
    refunds: 'number',
    role: 'text',
    parentId: 'text',
    parentAttempt: 'number',
    payee: 'bytes',
    early: 'text',
    earlyFor: 'text',
  },
}

/**
 * The columns of orders that describe an early answer: one given while only the
 * pending block shows the capture.
 */
export const earlyTable: SqlTable<EarlyRow> = {
  name: 'orders',
  key: ['id'],
  columns: {
    id: 'text',
    recipient: 'bytes',
    payer: 'bytes',
    value: 'amount',
    captureValue: 'amount',
    earlyFor: 'text',
  },
}

export const attemptTable: SqlTable<AttemptRecord> = {
  name: 'attempts',
  key: ['orderId', 'number'],
  identities: [['orderId', 'number'], ['nonce']],
  columns: {
    chainId: 'number',
    token: 'bytes',
    orderId: 'text',
    number: 'number',
    version: 'number',
    nonce: 'bytes',
    payer: 'bytes',
    validAfter: 'bigint',
    validBefore: 'bigint',
    signedAfter: 'bigint',
    signedBefore: 'bigint',
    signatureHash: 'bytes',
    spendableUntil: 'bigint',
    value: 'amount',
    terms: 'json',
    spendable: 'boolean',
    signature: 'text',
    cancellation: 'text',
  },
}

/**
 * A transaction with the first payment that it carries. The others, which most
 * transactions do not have, are in `further`.
 */
export type TransactionRow = Omit<TransactionRecord, 'movements'> & {
  orderId: string | undefined
  attempt: number | undefined
  further: readonly Movement[] | undefined
}

export const transactionTable: SqlTable<TransactionRow> = {
  name: 'transactions',
  key: ['chainId', 'account', 'nonce', 'bump'],
  identities: [['chainId', 'account', 'nonce', 'bump']],
  columns: {
    chainId: 'number',
    account: 'bytes',
    nonce: 'number',
    bump: 'number',
    version: 'number',
    kind: 'text',
    orderId: 'text',
    attempt: 'number',
    further: 'json',
    hash: 'bytes',
    raw: 'text',
    gas: 'amount',
    maxFeePerGas: 'amount',
    maxPriorityFeePerGas: 'amount',
    recordedAt: 'bigint',
    inFlight: 'boolean',
  },
}

/** Finds a transaction by one of its orders after the first. */
export type MovementRow = Pick<
  TransactionRecord,
  'chainId' | 'account' | 'nonce' | 'bump'
> & { orderId: string }

export const movementTable: SqlTable<MovementRow> = {
  name: 'movements',
  key: ['orderId', 'chainId', 'account', 'nonce', 'bump'],
  columns: {
    orderId: 'text',
    chainId: 'number',
    account: 'bytes',
    nonce: 'number',
    bump: 'number',
  },
}

export const proofTable: SqlTable<ProofRecord> = {
  name: 'proofs',
  key: ['chainId', 'transactionHash', 'logIndex'],
  identities: [['chainId', 'transactionHash', 'logIndex']],
  columns: {
    ...destination,
    transactionHash: 'bytes',
    logIndex: 'number',
    version: 'number',
    kind: 'text',
    orderId: 'text',
    attempt: 'number',
    blockHash: 'bytes',
    blockNumber: 'bigint',
    blockTime: 'bigint',
    payer: 'bytes',
    value: 'amount',
    submitter: 'bytes',
    gasUsed: 'amount',
    effectiveGasPrice: 'amount',
    removed: 'boolean',
  },
}

export const eventTable: SqlTable<EventRecord> = {
  name: 'events',
  key: ['cursor'],
  columns: {
    ...destination,
    cursor: 'bigint',
    orderId: 'text',
    sequence: 'number',
    type: 'text',
    at: 'bigint',
    data: 'json',
  },
}

export const noteTable: SqlTable<NoteRecord> = {
  name: 'notes',
  key: ['key'],
  columns: {
    key: 'text',
    version: 'number',
    until: 'bigint',
    data: 'json',
  },
}

export const subscriptionTable: SqlTable<SubscriptionRecord> = {
  name: 'subscriptions',
  key: ['id'],
  given: 'position',
  columns: {
    ...destination,
    id: 'text',
    version: 'number',
    position: 'bigint',
    state: 'text',
    payer: 'bytes',
    permission: 'json',
    price: 'amount',
    period: 'bigint',
    chargeId: 'text',
    tries: 'number',
    due: 'bigint',
  },
}

export const channelTable: SqlTable<ChannelRecord> = {
  name: 'channels',
  key: ['id'],
  given: 'position',
  columns: {
    ...destination,
    id: 'bytes',
    version: 'number',
    position: 'bigint',
    payer: 'bytes',
    payerAuthorizer: 'bytes',
    receiverAuthorizer: 'bytes',
    withdrawDelay: 'number',
    salt: 'bytes',
    state: 'text',
    reason: 'text',
    charged: 'amount',
    signed: 'amount',
    voucher: 'text',
    balance: 'amount',
    claimed: 'amount',
    withdrawing: 'amount',
    withdrawableAt: 'bigint',
    refundNonce: 'amount',
    seenBlock: 'bigint',
    seenAt: 'bigint',
    depositId: 'text',
    unclaimedSince: 'bigint',
    due: 'bigint',
    usedAt: 'bigint',
  },
}

export const recipientTable: SqlTable<RecipientRecord> = {
  name: 'recipients',
  key: ['chainId', 'token', 'recipient'],
  mostRows: 5_000,
  columns: {
    ...destination,
    version: 'number',
    shop: 'text',
    removed: 'boolean',
  },
}
