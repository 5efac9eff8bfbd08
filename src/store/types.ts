import type { Address, Hash, Hex } from 'viem'
import type {
  AnyPayment,
  Finality,
  PaymentTerms,
  RejectionReason,
} from '../core/types.js'

/** The state of an order. */
export type OrderState =
  | 'drafted'
  | 'stored'
  | 'capturing'
  | 'canceling'
  | 'captured'
  | 'voided'
  | 'canceled'
  | 'expired'
  | 'consumed'

/**
 * Where payments go: a token on a chain, and its recipient. Each order, proof
 * and event belongs to one destination, so shops can share a store.
 */
export type Destination = {
  chainId: number
  /** Contract address of the token. */
  token: Address
  /** Account that is paid. */
  recipient: Address
}

/** A destination of a named shop. It belongs to this shop alone. */
export type RecipientRecord = Destination & {
  version: number
  /** Name of the shop. */
  shop: string
  /**
   * True when the shop takes no new orders for this recipient. Old orders stay.
   */
  removed: boolean
}

/** An account that submits transactions on one chain. */
export type Submitter = { chainId: number; account: Address }

/** Why the last capture or cancellation of an order did not happen. */
export type OrderReason =
  /** The token, a wallet's code or our own check refuses the payment. */
  | RejectionReason
  | 'contractPayer'
  | 'deadlinePassed'
  | 'feeTooHigh'
  | 'otherPayment'
  | 'sealBroken'
  /** The payer or you revoked the spend permission, for good. */
  | 'revoked'
  /** The period's allowance of the spend permission does not cover the charge. */
  | 'allowanceUsed'
  /** Waits for the merchant, because a capture from this payer failed. */
  | 'needsReview'
  /** The order no longer needed its transaction, and a filler replaced it. */
  | 'replaced'
  /** The order was voided while its transaction was in flight. */
  | 'voided'
  /** The person at the merchant's wallet declined. */
  | 'signingDeclined'
  /** The merchant's wallet did not take the transaction. */
  | 'walletRefused'

/**
 * What became of an answer that is given once the pending block shows the
 * capture. `reserved`: it may be given. `answered`: it was given, and no block
 * shows the capture yet. `paid`: a block shows it, or did before a
 * reorganization. `unpaid`: it was given, and the capture failed.
 */
export type EarlyState = 'reserved' | 'answered' | 'paid' | 'unpaid'

/** The merchant's own data, as plain JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * The data of an event, as plain JSON. Integers above 2^53 are decimal strings.
 * `OrderEventData` of `countersign/orders` describes the data of each event
 * type.
 */
type EventData = Readonly<Record<string, unknown>>

/** The value under a key, as plain JSON. */
export type StoredValue = Readonly<Record<string, unknown>>

/** One order. All times are Unix seconds on the chain's clock. */
export type OrderRecord = Destination & {
  id: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /** Sort key among all orders. The store assigns it on insert. */
  position: bigint
  /** Sequence number of the order's last event. */
  sequence: number
  /** Account that submits the order's transactions. */
  submitter: Address
  state: OrderState
  /** Number of the newest attempt; the first is 1. */
  attempt: number
  /** Name of the kind of its payments, such as `eip3009`. */
  kind: string
  /** Whether the payments are of an exact amount, or of at most a ceiling. */
  total: 'amount' | 'atMost'
  /** Token units that the payer signs: the exact amount, or the ceiling. */
  value: bigint
  /**
   * Token units to capture of a ceiling. Absent until `capture` sets them; a
   * new attempt resets them.
   */
  captureValue: bigint | undefined
  /** Decimals of the token. */
  decimals: number
  primaryType: AnyPayment['primaryType']
  /** Name and version of the token in the signed message (EIP-712 domain). */
  tokenName: string
  tokenVersion: string
  /** Set when the order is drafted for one payer, or a payment is accepted. */
  payer: Address | undefined
  /** Keccak-256 hash of the token that gives the buyer access to the order. */
  buyerTokenHash: Hex
  metadata: JsonObject
  createdAt: bigint
  /** `validBefore` of the stored payment, or else of the latest offer. */
  deadline: bigint
  /**
   * Time from which the submitter has a transaction to send. Absent while there
   * is nothing to send.
   */
  sendDue: bigint | undefined
  /**
   * Time from which to ask the chain whether the payment nonce is used or the
   * window over. Absent once the order is settled or can no longer settle.
   */
  lookDue: bigint | undefined
  /** What the merchant or buyer requested and the chain has not decided yet. */
  requested: 'capture' | 'void' | 'cancel' | undefined
  /** Why the last capture or cancellation failed. */
  reason: OrderReason | undefined
  /** Number of failed calls of `accept`. */
  tries: number
  /**
   * True while the order waits for the merchant, because a capture from this
   * payer failed on chain.
   */
  needsReview: boolean
  /**
   * True when the order was captured after it had ended unpaid, for example
   * voided or expired. Such an order is never fulfilled.
   */
  unexpected: boolean
  /** True when the order was paid more than once. It is fulfilled only once. */
  overpaid: boolean
  /**
   * Fulfilment id of the capture that the `fulfil` event reported:
   * `<order id>/<transaction hash>`.
   */
  fulfilled: string | undefined
  /** Finality of the transaction that settled the order. */
  finality: Finality | undefined
  /** Hash and block number of the transaction that settled the order. */
  settledHash: Hash | undefined
  settledBlock: bigint | undefined
  /** Number of stored refunds of the order. */
  refunds: number
  /**
   * Set for a refund, which is a payment in the other direction: the recipient
   * pays, so it is also the row's `payer`. Id of the order that it refunds.
   */
  refundOf: string | undefined
  /** Refunds only: the id that the merchant gave the refund. */
  refundId: string | undefined
  /** Refunds only: the account that gets the tokens back. */
  refundTo: Address | undefined
  /** Refunds only: number of the order's attempt whose payment it refunds. */
  refundAttempt: number | undefined
  /**
   * Set for the charges of a subscription, and for the order of the same id
   * that holds the subscription's permission.
   */
  subscriptionId: string | undefined
  /** Charges only: the id that the merchant or the schedule gave the charge. */
  chargeId: string | undefined
  /**
   * Set once the capture was requested with an early answer, which needs only
   * the pending block. Tells what became of it.
   */
  early: EarlyState | undefined
  /**
   * Name of the limit that this answer counts against, such as that of an
   * offer.
   */
  earlyFor: string | undefined
}

/** An order that was answered at `preconfirmed`, or may be. */
export type EarlyRow = Pick<
  OrderRecord,
  'id' | 'recipient' | 'payer' | 'value' | 'captureValue' | 'earlyFor'
>

/** How many orders of a destination are in one state. */
export type OrderCount = Destination & { state: OrderState; count: number }

/** State of a subscription's schedule. */
type ScheduleState =
  /** The newest charge was paid, or none is due yet. */
  | 'active'
  /** A charge failed. The schedule tries it again. */
  | 'pastDue'
  /** A charge failed for good. Nothing is charged until the merchant resumes. */
  | 'unpaid'

/**
 * Schedule of the charges under a spend permission. The order of the same id
 * holds the signature; a revocation cancels that order. All times are Unix
 * seconds on the chain's clock.
 */
export type SubscriptionRecord = Destination & {
  id: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /** Sort key among all subscriptions. The store assigns it on insert. */
  position: bigint
  state: ScheduleState
  /** The smart wallet that pays. */
  payer: Address
  /** The permission without its signature, as plain JSON. */
  permission: JsonObject
  /** Token units of each charge. Absent if the schedule charges nothing. */
  price: bigint | undefined
  /**
   * Number of the newest period for which the schedule has finished; 0 if none.
   */
  period: bigint
  /** Id of the scheduled charge that the chain has not decided yet. */
  chargeId: string | undefined
  /** How often the charge of this period failed. */
  tries: number
  /** Time of the schedule's next check. Absent if there is none. */
  due: bigint | undefined
}

/** One payment asked of the buyer, with its own payment nonce. */
export type AttemptRecord = Pick<Destination, 'chainId' | 'token'> & {
  orderId: string
  /** Number of this payment attempt of the order; the first is 1. */
  number: number
  version: number
  /**
   * 32 bytes, unique among all attempts in the store. It is the payment nonce,
   * if the payment kind has unique nonces.
   */
  nonce: Hex
  payer: Address | undefined
  /** Window offered to the buyer, in Unix seconds. Both ends are exclusive. */
  validAfter: bigint
  validBefore: bigint
  /** Window of the stored signature, in Unix seconds. */
  signedAfter: bigint | undefined
  signedBefore: bigint | undefined
  /** Keccak-256 hash of the stored signature, to recognize it. */
  signatureHash: Hash | undefined
  /**
   * Latest `validBefore` of all signatures accepted or offered before, in Unix
   * seconds.
   */
  spendableUntil: bigint | undefined
  /** Token units that the payer signs: the exact amount, or the ceiling. */
  value: bigint
  /**
   * Terms of the payment that have no column of their own. Absent for EIP-3009.
   */
  terms: PaymentTerms | undefined
  /**
   * True while a stored signature can still be submitted, as far as we know.
   */
  spendable: boolean
  /**
   * Signature of the payment, encrypted by the sealer. Erased once the order is
   * final.
   */
  signature: string | undefined
  /** Cancellation, encrypted by the sealer. Erased once the order is final. */
  cancellation: string | undefined
}

/** One transaction. It is stored before it is sent. */
export type TransactionRecord = {
  chainId: number
  /** The submitter. */
  account: Address
  /** Account nonce. */
  nonce: number
  /** 0 for the first transaction at its nonce; each replacement adds 1. */
  bump: number
  version: number
  /** A `filler` only uses up its account nonce; it belongs to no order. */
  kind: 'capture' | 'cancel' | 'filler'
  orderId: string | undefined
  /** Number of the order's payment attempt. */
  attempt: number | undefined
  /** Absent until a wallet that signs and sends in one step returns it. */
  hash: Hash | undefined
  /**
   * Raw transaction, encrypted by the sealer. Absent if a wallet signs and
   * sends in one step.
   */
  raw: string | undefined
  /** Gas limit. */
  gas: bigint
  /** Wei per gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Unix milliseconds on the clock of the machine that stored it. */
  recordedAt: bigint
  /**
   * True until a transaction at this account nonce is known to be mined.
   * Becomes true again when a reorganization removes that transaction.
   */
  inFlight: boolean
}

/** A transfer to the recipient, or a cancellation, found on the chain. */
export type ProofRecord = Destination & {
  transactionHash: Hash
  /** Index of the log in its block. */
  logIndex: number
  version: number
  /** `unmatched`: the transfer belongs to no order. */
  kind: 'capture' | 'cancel' | 'unmatched'
  orderId: string | undefined
  /** Number of the order's payment attempt. */
  attempt: number | undefined
  blockHash: Hash
  blockNumber: bigint
  /** Unix seconds. */
  blockTime: bigint
  payer: Address
  /** Amount in token units; 0 for a cancellation. */
  value: bigint
  /** Account that submitted the transaction. */
  submitter: Address
  gasUsed: bigint
  /** Wei per gas. */
  effectiveGasPrice: bigint
  /** True when a reorganization removed the transaction. */
  removed: boolean
}

/** One event. All readers see the events in the order of their cursors. */
export type EventRecord = Destination & {
  /** Position among all events, without gaps. The store assigns it. */
  cursor: bigint
  /** Absent when the event concerns no order. */
  orderId: string | undefined
  /** Position among the order's events; the first is 1. */
  sequence: number
  type: string
  /** Unix milliseconds on the clock of the machine that wrote the event. */
  at: bigint
  data: EventData
}

/** A JSON document that other parts of the library store for some time. */
export type NoteRecord = {
  /** What the note is about. Up to 256 characters. */
  key: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /** Unix milliseconds from which the note may be removed. */
  until: bigint
  data: JsonObject
}

/** The exclusive right to work on something until the lease runs out. */
export type Lease = {
  /** What the lease is for. */
  key: string
  /** The instance that holds the lease. */
  owner: string
  /** Rises with each new holder. Writes under an older fence are refused. */
  fence: bigint
}

/** The current holder of a lease. */
export type LeaseHolder = {
  owner: string
  /** When the lease runs out, in Unix milliseconds on the database's clock. */
  until: bigint
}

/** Selects orders in one of these ways. */
export type OrderQuery =
  /** In the order of `ids`. */
  | { ids: readonly string[] }
  /** Those that wait for the merchant's review, in the order of these ids. */
  | { needReview: readonly string[] }
  /**
   * Orders of these destinations, newest first, without refunds and without the
   * orders that hold permissions. `before` is a position.
   */
  | {
      listed: readonly Destination[]
      states?: readonly OrderState[] | undefined
      payer?: Address | undefined
      before?: bigint | undefined
      limit: number
    }
  /** Orders whose `sendDue` is at or before `until`, earliest deadline first. */
  | {
      sendDue: Submitter
      recipients: readonly Address[]
      until: bigint
      limit: number
    }
  /** Orders whose `lookDue` is at or before `until`, earliest first. */
  | { lookDue: readonly Destination[]; until: bigint; limit: number }
  /** Orders settled with this finality in these blocks, lowest block first. */
  | {
      settled: readonly Destination[]
      finality: Finality
      fromBlock?: bigint | undefined
      toBlock?: bigint | undefined
      limit: number
    }
  /** Orders with a payer and a `lookDue`, oldest first. `after` is a position. */
  | {
      unsettled: readonly Destination[]
      after?: bigint | undefined
      limit: number
    }
  /** Orders in any state, oldest first. */
  | { oldest: Destination; limit: number }
  /** All refunds of these orders, oldest first. */
  | { refundsOf: readonly string[] }
  /** Refunds in the state `drafted`, oldest first. `after` is a position. */
  | {
      refundsDue: readonly Destination[]
      after?: bigint | undefined
      limit: number
    }
  /** Charges of a subscription, newest first. `before` is a position. */
  | { chargesOf: string; before?: bigint | undefined; limit: number }

/** Selects subscriptions in one of these ways. */
export type SubscriptionQuery =
  /** In the order of `ids`. */
  | { ids: readonly string[] }
  /** Newest first. `before` is a position. */
  | {
      listed: readonly Destination[]
      payer?: Address | undefined
      before?: bigint | undefined
      limit: number
    }
  /** Subscriptions whose `due` is at or before `until`, earliest first. */
  | { due: readonly Destination[]; until: bigint; limit: number }

/** Selects attempts in one of these ways. */
export type AttemptQuery =
  | { orderIds: readonly string[] }
  | { nonces: readonly Hex[] }
  /** All attempts of this payer whose signatures can still be submitted. */
  | { exposure: { chainId: number; token: Address; payer: Address } }

/** Selects transactions in one of these ways. */
export type TransactionQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /** Transactions in flight, lowest account nonce first. */
  | { inFlight: Submitter }
  /** All transactions at one account nonce, lowest `bump` first. */
  | { at: Submitter; nonce: number }
  /** From an account nonce on, lowest account nonce and `bump` first. */
  | { sentBy: Submitter; fromNonce: number; limit: number }

/** Selects proofs in one of these ways. */
export type ProofQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /** Sorted by block number, chain id and log index. */
  | {
      destinations: readonly Destination[]
      fromBlock?: bigint | undefined
      limit: number
    }

/** Selects events in one of these ways. */
export type EventQuery =
  /** Events with a cursor above `after`, lowest cursor first. */
  | { destinations: readonly Destination[]; after: bigint; limit: number }
  /**
   * Only the last event of these destinations; with `'all'`, of every shop that
   * shares the store.
   */
  | { newest: readonly Destination[] | 'all' }
  /** Lowest cursor first. */
  | { orderIds: readonly string[] }

/** Selects notes in one of these ways. */
export type NoteQuery =
  | { keys: readonly string[] }
  /** Notes whose `until` is at or before `over`, earliest first. */
  | { over: bigint; limit: number }

/** Selects recipients in one of these ways. */
export type RecipientQuery =
  /** All of a shop, sorted by chain id, token and recipient. */
  | { shop: string }
  /** Those of any shop among these. */
  | { destinations: readonly Destination[] }

/** Finds rows of one table. */
export type Reader<row, query> = {
  /** Returns each row that the query selects, once. */
  find(query: query): Promise<row[]>
}

/** Finds and writes rows of one table. */
export type Table<row, query, inserted = Omit<row, 'version'>> = Reader<
  row,
  query
> & {
  /**
   * Adds rows, each with version 1.
   *
   * @throws {@link DuplicateRecordError} when one of them exists already. Then
   * the store keeps nothing of the whole unit of work.
   */
  insert(rows: readonly inserted[]): Promise<void>
  /**
   * Replaces rows by compare-and-set: the version of each row must be the one
   * in the store. Adds 1 to it.
   *
   * @throws {@link StaleRecordError} when a row is missing or has another
   * version. Then the store keeps nothing of the whole unit of work.
   */
  update(rows: readonly row[]): Promise<void>
}

/** Reads one consistent snapshot of the store. */
export type StoreReader = {
  orders: Reader<OrderRecord, OrderQuery> & {
    /**
     * Counts the orders of these destinations by state, without refunds and
     * without the orders that hold permissions.
     */
    count(
      destinations: readonly Destination[],
    ): Promise<Partial<Record<OrderState, number>>>
    /**
     * Like `count`, separately for each of these destinations. Leaves out
     * counts of 0.
     */
    countEach(destinations: readonly Destination[]): Promise<OrderCount[]>
    /**
     * Finds the orders of a token whose early answer is in one of these states,
     * oldest first.
     */
    findEarly(query: EarlyQuery): Promise<EarlyRow[]>
  }
  attempts: Reader<AttemptRecord, AttemptQuery>
  transactions: Reader<TransactionRecord, TransactionQuery>
  proofs: Reader<ProofRecord, ProofQuery>
  events: Reader<EventRecord, EventQuery>
  notes: Reader<NoteRecord, NoteQuery>
  subscriptions: Reader<SubscriptionRecord, SubscriptionQuery>
  recipients: Reader<RecipientRecord, RecipientQuery>
  /** Returns the JSON value under a key, `undefined` if there is none. */
  getValue(key: string): Promise<StoredValue | undefined>
  /** Returns the values of all keys that begin with this text. */
  findValues(prefix: string): Promise<{ key: string; value: StoredValue }[]>
  /** Returns who holds a lease now, by the database's clock. */
  getLease(key: string): Promise<LeaseHolder | undefined>
  /**
   * Finds which keys sealed the secrets of orders. The name of a secret's key
   * is its text up to the first space. Leaves out fillers, which hold no
   * credential.
   */
  secrets: {
    /** Counts the secrets of these destinations by the name of their key. */
    countKeys(
      destinations: readonly Destination[],
    ): Promise<Readonly<Record<string, number>>>
    /**
     * Returns the ids of orders with a secret of another key than `except`,
     * each once, in ascending order.
     */
    findOrderIds(query: SecretQuery): Promise<string[]>
  }
}

/**
 * Selects orders of a token by the states of their early answers: those given
 * while only the pending block shows the capture.
 */
export type EarlyQuery = Pick<Destination, 'chainId' | 'token'> & {
  early: readonly Exclude<EarlyState, 'paid'>[]
}

/** Selects orders by the keys of their secrets. */
export type SecretQuery = {
  destinations: readonly Destination[]
  /** Name of the key whose secrets do not count. */
  except: string
  /** Only ids above this one. */
  after?: string | undefined
  limit: number
}

/**
 * Reads and writes inside one unit of work. The store keeps all of its writes or
 * none. Its reads see its own writes.
 */
export type StoreWriter = {
  orders: Table<
    OrderRecord,
    OrderQuery,
    Omit<OrderRecord, 'version' | 'position'>
  > &
    Pick<StoreReader['orders'], 'findEarly'>
  attempts: Table<AttemptRecord, AttemptQuery>
  transactions: Table<TransactionRecord, TransactionQuery>
  proofs: Table<ProofRecord, ProofQuery>
  /** Readers see events in the order of their cursors, without gaps. */
  events: Reader<EventRecord, EventQuery> & {
    /** Adds events at the end of the stream and assigns their cursors. */
    append(rows: readonly Omit<EventRecord, 'cursor'>[]): Promise<void>
  }
  notes: Table<NoteRecord, NoteQuery> & {
    /** Removes the notes of these keys; does nothing for those without one. */
    remove(keys: readonly string[]): Promise<void>
  }
  subscriptions: Table<
    SubscriptionRecord,
    SubscriptionQuery,
    Omit<SubscriptionRecord, 'version' | 'position'>
  >
  recipients: Table<RecipientRecord, RecipientQuery>
  /** Returns the JSON value under a key, `undefined` if there is none. */
  getValue(key: string): Promise<StoredValue | undefined>
  /** Writes the value under a key. Replaces any earlier value. */
  setValue(key: string, value: StoredValue): Promise<void>
  /**
   * Waits until no other unit of work holds the lock of this name. Holds the
   * lock until the end of this unit of work.
   */
  lock(name: string): Promise<void>
}

/**
 * Stores orders. Each `write` is atomic, isolated from other writes of the same
 * rows, and durable once its promise resolves.
 */
export type PaymentStore = {
  /**
   * Prepares the store on the first call and returns the identity of the
   * physical database. The identity changes when a copy or a backup replaces
   * the database.
   *
   * @throws {@link StoreError} when the database cannot be reached, or does not
   * make writes durable.
   */
  open(): Promise<{ identity: string }>
  /** Runs reads that all see the same snapshot. */
  read<result>(work: (store: StoreReader) => Promise<result>): Promise<result>
  /**
   * Runs one unit of work. Runs `work` again from its start when the database
   * rolled it back, so `work` must have no effect outside the store.
   *
   * @param options.lease the lease that must still be held when the unit of
   * work ends.
   * @throws {@link LeaseLostError} when the lease was released or another owner
   * has taken it. Then the store keeps nothing.
   */
  write<result>(
    work: (store: StoreWriter) => Promise<result>,
    options?: { lease?: Lease | undefined },
  ): Promise<result>
  /**
   * Takes a lease that is free or has run out by the database's clock, or
   * prolongs the owner's own lease. Returns `undefined` when another owner
   * holds it.
   *
   * A prolonged lease keeps its fence. Otherwise the fence rises, and the store
   * never gives the same fence twice for a key, not even after a release.
   */
  takeLease(parameters: {
    /** What the lease is for. */
    key: string
    /** Names one instance of one process. */
    owner: string
    /** Milliseconds until the lease runs out. */
    milliseconds: number
  }): Promise<Lease | undefined>
  /**
   * Releases a lease, so that others can take it at once. Keeps no row for a
   * released lease. Does nothing if the lease is lost already.
   */
  releaseLease(lease: Lease): Promise<void>
  /**
   * Calls `listener` when some process may have written events. Only a hint:
   * the call may come late or never. Returns a function that unregisters the
   * listener.
   *
   * @param listener gets the key of the lease under which this process wrote,
   * so that a worker can ignore its own writes; `undefined` if there is none,
   * or another process wrote.
   */
  onChange?(listener: (by?: string) => void): () => void
  /**
   * Returns a second store over the same database that prepares nothing: it
   * creates, migrates and cleans up nothing, so that a tool of another release
   * or machine can look at the database of running workers. Its `open` fails if
   * there is no database, or its tables are of another version. With `'read'`,
   * `write` and leases fail too. Close it yourself.
   */
  attach?(access: 'read' | 'write'): PaymentStore
  /** True for a store that `attach` returned. */
  readonly isAttached?: true | undefined
  /** Closes the store. Do not call it again afterwards. */
  close(): Promise<void>
}

/**
 * What a secret belongs to. A sealed secret opens for the same context only.
 */
export type SealContext = {
  /** `answer`: an answer that x402 sold, kept for its payer. */
  kind: 'payment' | 'cancellation' | 'transaction' | 'answer'
  orderId: string
  /** Number of the order's payment attempt. */
  attempt: number
  chainId: number
  token: Address
  payer: Address
  /** Payment nonce. */
  nonce: Hex
  /** Transactions only: the submitter and its account nonce. */
  account?: Address | undefined
  accountNonce?: number | undefined
  /** Transactions only: what the transaction does. */
  action?: TransactionRecord['kind'] | undefined
}

/**
 * Encrypts signatures and raw transactions before they are stored. A call that
 * takes longer than `policy.sealTimeout`, or fails with anything but a
 * {@link SealError}, is tried again later.
 */
export type Sealer = {
  /** Name of the key that seals. Each sealed text begins with it and a space. */
  readonly current: string
  /** Names of all keys with which orders may start. */
  readonly keyNames: readonly string[]
  /** Encrypts a secret into text that opens for the same context only. */
  seal(secret: string, context: SealContext): Promise<string>
  /**
   * Decrypts a sealed secret.
   *
   * @throws {@link SealError} when it does not open for this context.
   */
  open(sealed: string, context: SealContext): Promise<string>
}
