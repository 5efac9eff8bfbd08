import type { Address, Hash, Hex } from 'viem'
import type { Finality, PrimaryType } from '../core/types.js'

/** Where an order is in its life. */
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

/** What every row belongs to: a query never leaves the destinations it is given. */
export type Destination = {
  chainId: number
  token: Address
  recipient: Address
}

/** One sending account on one chain. */
export type Submitter = { chainId: number; account: Address }

/** Plain data that JSON can hold; integers beyond 2^53 as decimal text. */
export type JsonObject = Readonly<Record<string, unknown>>

/** One order. Times are Unix seconds of the chain's clock. */
export type OrderRecord = Destination & {
  id: string
  /** Counts the writes of this row: a stale one is refused. */
  version: number
  /** Place among all orders, given by the store when it is inserted. */
  position: bigint
  /** Number of its last event. */
  sequence: number
  /** Account that sends its transactions. */
  submitter: Address
  state: OrderState
  /** Number of the newest attempt, from 1. */
  attempt: number
  /** Token units. */
  value: bigint
  decimals: number
  primaryType: PrimaryType
  tokenName: string
  tokenVersion: string
  /** Fixed when drafted, or the one whose payment was accepted. */
  payer: Address | undefined
  /** Keccak-256 of the buyer's token. */
  buyerTokenHash: Hex
  metadata: JsonObject
  createdAt: bigint
  /** When the payment that is held ends, else the one offered last. */
  deadline: bigint
  /** When the submitter has something to send; absent when it has not. */
  sendDue: bigint | undefined
  /**
   * When the chain has to be asked whether it is spent or expired; absent when
   * something settled it, or nothing can any more.
   */
  lookDue: bigint | undefined
  /** What the merchant or the buyer wants and the chain has not decided yet. */
  requested: 'capture' | 'void' | 'cancel' | undefined
  /** Why the last capture or cancellation did not happen. */
  reason: string | undefined
  /** Failed accepts so far. */
  tries: number
  /** Waits for the merchant after a payer's failure on chain. */
  needsReview: boolean
  /** Captured although it was given up before: never fulfilled. */
  unexpected: boolean
  /** Paid more than once: the later proofs are never fulfilled. */
  overpaid: boolean
  /** Proof for which fulfilment was announced, as `hash:logIndex`. */
  fulfilled: string | undefined
  /** How sure the chain is of what settled it. */
  finality: Finality | undefined
  /** What settled it, where something did. */
  settledHash: Hash | undefined
  settledBlock: bigint | undefined
}

/** One payment asked of the buyer, with a nonce of its own. */
export type AttemptRecord = Pick<Destination, 'chainId' | 'token'> & {
  orderId: string
  number: number
  version: number
  nonce: Hex
  payer: Address | undefined
  /** The window offered to the buyer. */
  validAfter: bigint
  validBefore: bigint
  /** The window of the signature that is held. */
  signedAfter: bigint | undefined
  signedBefore: bigint | undefined
  /** Keccak-256 of the held signature, to know the same one again. */
  signatureHash: Hash | undefined
  /** Latest `validBefore` of what was accepted, or offered before. */
  spendableUntil: bigint | undefined
  /** Token units. */
  value: bigint
  /** A signature is held and can still be spent, as far as is known. */
  spendable: boolean
  /** Sealed. */
  signature: string | undefined
  /** Sealed. */
  cancellation: string | undefined
}

/** One transaction, on record before it leaves. */
export type TransactionRecord = {
  chainId: number
  account: Address
  /** Account nonce. */
  nonce: number
  /** 0 for the first at its nonce, one more for each replacement. */
  bump: number
  version: number
  kind: 'capture' | 'cancel' | 'filler'
  orderId: string | undefined
  attempt: number | undefined
  /** Absent while only the wallet that signs and sends can know it. */
  hash: Hash | undefined
  /** The sealed bytes; absent for wallets that sign and send at once. */
  raw: string | undefined
  gas: bigint
  /** Wei per gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Unix milliseconds of this machine. */
  recordedAt: bigint
  /**
   * Not known to be mined, and nothing else at its nonce either; a
   * reorganization opens it again.
   */
  inFlight: boolean
}

/** A token movement or a cancellation the chain showed. */
export type ProofRecord = Destination & {
  transactionHash: Hash
  logIndex: number
  version: number
  kind: 'capture' | 'cancel' | 'unmatched'
  orderId: string | undefined
  attempt: number | undefined
  blockHash: Hash
  blockNumber: bigint
  /** Unix seconds. */
  blockTime: bigint
  payer: Address
  /** Token units; 0 for a cancellation. */
  value: bigint
  /** Sender of the transaction. */
  submitter: Address
  gasUsed: bigint
  /** Wei per gas. */
  effectiveGasPrice: bigint
  /** A reorganization took it back. */
  removed: boolean
}

/** What happened, in one order for all who read. */
export type EventRecord = Destination & {
  /** Place in the stream, without gaps, given by the store. */
  cursor: bigint
  orderId: string | undefined
  /** Place among the order's events. */
  sequence: number
  type: string
  /** Unix milliseconds of the machine that wrote it. */
  at: bigint
  data: JsonObject
}

/** The right to work on something alone, for a while. */
export type Lease = { key: string; owner: string; fence: bigint }

/** Who has such a right by now. */
export type HeldLease = {
  owner: string
  /** Unix milliseconds of the database's clock. */
  until: bigint
}

/** Which orders are meant, in one of these ways. */
export type OrderQuery =
  | { ids: readonly string[] }
  /** Newest first. */
  | {
      listed: readonly Destination[]
      states?: readonly OrderState[] | undefined
      payer?: Address | undefined
      before?: bigint | undefined
      limit: number
    }
  /** What the submitter has to send until then; the soonest deadline first. */
  | {
      sendDue: Submitter
      recipients: readonly Address[]
      until: bigint
      limit: number
    }
  /** What the chain has to be asked about until then; the longest due first. */
  | { lookDue: Destination; until: bigint; limit: number }
  /** Settled with this finality, in these blocks; the lowest first. */
  | {
      settled: Destination
      finality: Finality
      fromBlock?: bigint | undefined
      toBlock?: bigint | undefined
      limit: number
    }
  /** With a payer and something left to look at; the oldest first. */
  | { unsettled: Destination; after?: bigint | undefined; limit: number }
  /** In any state; the oldest first. */
  | { oldest: Destination; limit: number }

/** Which attempts are meant, in one of these ways. */
export type AttemptQuery =
  | { orderIds: readonly string[] }
  | { nonces: readonly Hex[] }
  /** Everything this payer could still be charged. */
  | { exposure: { chainId: number; token: Address; payer: Address } }

/** Which transactions are meant, in one of these ways. */
export type TransactionQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /** In the order of their nonces. */
  | { inFlight: Submitter }
  /** All at one nonce. */
  | { at: Submitter; nonce: number }

/** Which proofs are meant, in one of these ways. */
export type ProofQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /** In the order of the chain. */
  | {
      destinations: readonly Destination[]
      fromBlock?: bigint | undefined
      limit: number
    }

/** Which events are meant, in one of these ways. */
export type EventQuery =
  /** In the order of the stream. */
  | { destinations: readonly Destination[]; after: bigint; limit: number }
  /** The last one only; of whoever shares the store, for `'all'`. */
  | { newest: readonly Destination[] | 'all' }
  | { orderIds: readonly string[] }

/** Rows that can be looked for. */
export type Reader<row, query> = {
  /** Finds the rows that are meant, each once. */
  find(query: query): Promise<row[]>
}

/** Rows that can be looked for and written, many at once. */
export type Table<row, query, inserted = Omit<row, 'version'>> = Reader<
  row,
  query
> & {
  /**
   * Adds rows with version 1.
   *
   * @throws {@link DuplicateRecordError} when one is there already; then
   * nothing of the whole unit of work is kept.
   */
  insert(rows: readonly inserted[]): Promise<void>
  /**
   * Compare-and-set: replaces rows whose version is the one given, and counts
   * it up.
   *
   * @throws {@link StaleRecordError} when one was written in between; then
   * nothing of the whole unit of work is kept.
   */
  update(rows: readonly row[]): Promise<void>
}

/** One consistent state of everything kept. */
export type StoreReader = {
  orders: Reader<OrderRecord, OrderQuery> & {
    /** How many orders of these destinations are in each state. */
    count(
      destinations: readonly Destination[],
    ): Promise<Partial<Record<OrderState, number>>>
  }
  attempts: Reader<AttemptRecord, AttemptQuery>
  transactions: Reader<TransactionRecord, TransactionQuery>
  proofs: Reader<ProofRecord, ProofQuery>
  events: Reader<EventRecord, EventQuery>
  /** A setting, a cursor or the state of a submitter; JSON. */
  getValue(key: string): Promise<JsonObject | undefined>
  /** Who holds a lease; `undefined` when nobody does by the database's clock. */
  getLease(key: string): Promise<HeldLease | undefined>
}

/** One unit of work: all of it happens, or nothing. */
export type StoreWriter = {
  orders: Table<
    OrderRecord,
    OrderQuery,
    Omit<OrderRecord, 'version' | 'position'>
  >
  attempts: Table<AttemptRecord, AttemptQuery>
  transactions: Table<TransactionRecord, TransactionQuery>
  proofs: Table<ProofRecord, ProofQuery>
  /** Rows become visible in the order of their cursors. */
  events: Reader<EventRecord, EventQuery> & {
    /** Adds rows at the end; each gets its cursor. */
    append(rows: readonly Omit<EventRecord, 'cursor'>[]): Promise<void>
  }
  /** As the reader gives it, writes of this unit included. */
  getValue(key: string): Promise<JsonObject | undefined>
  /** Keeps a value under its key, in place of the last. */
  setValue(key: string, value: JsonObject): Promise<void>
  /**
   * Waits until no other unit of work holds this name, and holds it until the
   * end of this one.
   */
  lock(name: string): Promise<void>
}

/**
 * What keeps orders. Everything inside one `write` is atomic, isolated from
 * other writes of the same rows, and durable once its promise is resolved.
 */
export type PaymentStore = {
  /**
   * Prepares the store, once, and names the physical database: another name
   * than before means a copy or a backup was put in its place.
   *
   * @throws {@link StoreError} when the database cannot keep what it is told.
   */
  open(): Promise<{ identity: string }>
  /** Runs reads that all see one state. */
  read<result>(work: (store: StoreReader) => Promise<result>): Promise<result>
  /**
   * Runs `work` again from its start when the database took back what it did:
   * it should have no effect elsewhere.
   *
   * @param options.lease the right this is written under.
   * @throws {@link LeaseLostError} when the lease was given back, or someone
   * else has taken it since; then nothing is kept.
   */
  write<result>(
    work: (store: StoreWriter) => Promise<result>,
    options?: { lease?: Lease | undefined },
  ): Promise<result>
  /**
   * Takes a lease that is free or has run out, by the clock of the database,
   * or prolongs one's own. `undefined` when someone else holds it. The fence
   * rises whenever the owner changes or the lease was over, and none is given
   * twice for a key, whatever the store has forgotten.
   */
  takeLease(parameters: {
    key: string
    /** Names one instance of one process. */
    owner: string
    milliseconds: number
  }): Promise<Lease | undefined>
  /**
   * Lets others take it at once, and forgets it: nothing is kept for a key that
   * nobody works on. One that is lost already is let be.
   */
  releaseLease(lease: Lease): Promise<void>
  /** Calls back when someone else may have written; a hint, never a promise. */
  onChange?(listener: () => void): () => void
  /** Lets go of the database; nothing is asked after it. */
  close(): Promise<void>
}

/** What a secret is bound to: opened for anything else, it is refused. */
export type SealContext = {
  kind: 'payment' | 'cancellation' | 'transaction'
  orderId: string
  attempt: number
  chainId: number
  token: Address
  payer: Address
  nonce: Hex
  /** For a transaction: the account that sends it, and its account nonce. */
  account?: Address | undefined
  accountNonce?: number | undefined
  /** For a transaction: what it does. */
  action?: TransactionRecord['kind'] | undefined
}

/** Encrypts what is a credential before it is kept. */
export type Sealer = {
  /** Gives a text that opens in the same context only. */
  seal(secret: string, context: SealContext): Promise<string>
  /** @throws {@link SealError} when it cannot be opened for this context. */
  open(sealed: string, context: SealContext): Promise<string>
}
