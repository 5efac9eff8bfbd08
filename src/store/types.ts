import type { Address, Hash, Hex } from 'viem'
import type {
  AnyPayment,
  Finality,
  PaymentTerms,
  RejectionReason,
} from '../core/types.js'

/**
 * State of an order. `docs/lifecycle.md` says what each means and which follows
 * which.
 */
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
 * What a row of the table of orders is. A sale is an order that a buyer signs and
 * pays: one row, whatever its number of attempts. A permission is signed once and
 * never paid itself: each charge under it is a row of its own, as is each refund
 * of a sale or charge. A movement is a deposit, claim or refund of channels.
 */
export type OrderRole = 'sale' | 'refund' | 'permission' | 'charge' | 'movement'

/**
 * Where payments go: a token on a chain, and its recipient. Each order, event
 * and found transfer belongs to one destination, so several shops can share a
 * store.
 */
export type Destination = {
  chainId: number
  /** Contract address of the token. */
  token: Address
  /** Account that is paid. */
  recipient: Address
}

/** A destination that belongs to one named shop, and to no other shop. */
export type RecipientRecord = Destination & {
  version: number
  /** Name that the merchant gave the shop in `createOrders`. */
  shop: string
  /**
   * True when the shop takes no new orders for this recipient. Existing orders
   * continue.
   */
  removed: boolean
}

/** An account that submits transactions on one chain. */
export type Submitter = { chainId: number; account: Address }

/** Why the last capture or cancellation of an order failed or was not sent. */
export type OrderReason =
  /**
   * The payment was refused by the token, by the code of a wallet, or by a
   * check of this library.
   */
  | RejectionReason
  | 'contractPayer'
  | 'deadlinePassed'
  | 'feeTooHigh'
  | 'otherPayment'
  | 'sealBroken'
  /** The payer or the spender revoked the spend permission, which is final. */
  | 'revoked'
  /** The period's allowance of the spend permission does not cover the charge. */
  | 'allowanceUsed'
  /** The channels have nothing left that this claim could take. */
  | 'nothingToClaim'
  /**
   * The channel holds less than the movement takes: its payer withdrew, or it
   * was refunded.
   */
  | 'channelWithdrawn'
  /** The channel's charges are not claimed yet, so nothing is refunded. */
  | 'unclaimedCharges'
  /**
   * The order waits for the merchant to approve it, because an earlier capture
   * from this payer failed on chain.
   */
  | 'needsReview'
  /**
   * The order no longer needed its transaction, so the submitter replaced it
   * with an empty one that only uses up the account nonce.
   */
  | 'replaced'
  /** The order was voided while its transaction was in flight. */
  | 'voided'
  /**
   * The merchant's wallet asked a person to sign the transaction, and the
   * person declined.
   */
  | 'signingDeclined'
  /** The merchant's wallet refused to send the transaction. */
  | 'walletRefused'

/**
 * State of an early answer: `capture` answers when the pending block shows the
 * transaction, before a block contains it. `reserved`: the answer is allowed,
 * and counts against the limit. `working`: the same, but the pending block only
 * lets the work for the answer begin, and the answer follows later. `answered`:
 * the answer was given, and no block shows the capture yet. `paid`: a block
 * shows the capture, or did before a reorganization. `unpaid`: the answer was
 * given, but the capture failed.
 */
export type EarlyState = 'reserved' | 'working' | 'answered' | 'paid' | 'unpaid'

/** The merchant's own data, as plain JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * The data of an event, as plain JSON. Integers above 2^53 are decimal strings.
 * `OrderEventData` of `countersign/orders` describes the data of each event
 * type.
 */
type EventData = Readonly<Record<string, unknown>>

/** A value of the store's settings, as plain JSON. */
export type StoredValue = Readonly<Record<string, unknown>>

/** One order. All times are Unix seconds on the chain's clock. */
export type OrderRecord = Destination & {
  id: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /**
   * Sort key: orders stored later have a higher position. The store assigns it
   * on insert.
   */
  position: bigint
  /** Sequence number of the order's last event; see `EventRecord.sequence`. */
  sequence: number
  /** Account that sends the order's transactions and pays their gas. */
  submitter: Address
  state: OrderState
  /** Number of the newest attempt; the first is 1. */
  attempt: number
  /** Name of the payment kind, such as `eip3009`. */
  kind: string
  /**
   * `amount`: the payer pays exactly `value`. `atMost`: the capture may take
   * less than `value`.
   */
  total: 'amount' | 'atMost'
  /**
   * Base units of the token that the payer signs for: the exact amount, or the
   * ceiling.
   */
  value: bigint
  /**
   * Base units of the token that the capture takes of a ceiling. Absent until
   * `capture` sets it; a new attempt resets it to absent.
   */
  captureValue: bigint | undefined
  /** Number of decimals of the token: 6 for USDC. */
  decimals: number
  /**
   * Type of the message that the payer signs. Absent for permissions and
   * charges: the payer signs a spend permission, and nothing for a charge.
   * Absent for movements, too.
   */
  primaryType: AnyPayment['primaryType'] | undefined
  /** Name and version of the token in the signed message (EIP-712 domain). */
  tokenName: string
  tokenVersion: string
  /**
   * Absent until the payer is known: given when the order is drafted, or found
   * in the accepted payment.
   */
  payer: Address | undefined
  /**
   * Keccak-256 hash of the secret token with which the buyer's page reads the
   * order.
   */
  buyerTokenHash: Hex
  metadata: JsonObject
  createdAt: bigint
  /**
   * End of the payment's window: `validBefore` of the stored payment; before
   * one is stored, of the latest offer to the buyer.
   */
  deadline: bigint
  /**
   * Earliest time at which the submitter sends a transaction for the order.
   * Absent while there is nothing to send.
   */
  sendDue: bigint | undefined
  /**
   * Earliest time at which a worker asks the chain whether the payment nonce is
   * used or the window is over. Absent once the order is settled or can no
   * longer settle.
   */
  lookDue: bigint | undefined
  /**
   * The action that the merchant or buyer requested and whose outcome on chain
   * is still open.
   */
  requested: 'capture' | 'void' | 'cancel' | undefined
  /**
   * Why the last capture or cancellation failed; `undefined` if it did not
   * fail.
   */
  reason: OrderReason | undefined
  /**
   * Number of failed calls of `accept`. Limits how often a buyer can submit
   * wrong payments.
   */
  tries: number
  /**
   * True while the order waits for the merchant to approve its capture, because
   * an earlier capture from this payer failed on chain.
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
  /** Number of the order's refunds that are stored, in any state. */
  refunds: number
  role: OrderRole
  /**
   * Id of the order whose money a refund returns, of the permission under which
   * a charge is made, or of the channel of a deposit or refund. Absent for
   * sales, permissions and claims. The row's own id is this id, one more
   * character, and the id of the refund, charge or movement.
   */
  parentId: string | undefined
  /** Refunds only: number of the parent's attempt whose payment it returns. */
  parentAttempt: number | undefined
  /**
   * The account that is paid, if it is not the recipient of the destination:
   * the recipient pays a refund, so it is the refund's `payer`.
   */
  payee: Address | undefined
  /**
   * State of the order's early answer, which needs only the pending block.
   * Absent if `capture` never asked for an early answer.
   */
  early: EarlyState | undefined
  /**
   * Name of the limit that the early answer counts against. Merchants set
   * separate limits, for example one for each offer.
   */
  earlyFor: string | undefined
}

/**
 * An order with an early answer, given or only reserved: the columns that
 * limits need.
 */
export type EarlyRow = Pick<
  OrderRecord,
  'id' | 'recipient' | 'payer' | 'value' | 'captureValue' | 'earlyFor'
>

/** How many orders of a destination are in one state. */
export type OrderCount = Destination & { state: OrderState; count: number }

/** Whether a subscription's payments are up to date. */
type ScheduleState =
  /** The newest charge was paid, or none is due yet. */
  | 'active'
  /** A charge failed. The schedule will try it again. */
  | 'pastDue'
  /**
   * A charge failed for good. The schedule stops until the merchant resumes it.
   */
  | 'unpaid'

/**
 * Schedule of the charges under a spend permission. The signature is stored in
 * the order with the same id, and revoking the permission cancels that order.
 * All times are Unix seconds on the chain's clock.
 */
export type SubscriptionRecord = Destination & {
  id: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /**
   * Sort key: subscriptions stored later have a higher position. The store
   * assigns it on insert.
   */
  position: bigint
  state: ScheduleState
  /** The smart wallet that pays. */
  payer: Address
  /** The permission without its signature, as plain JSON. */
  permission: JsonObject
  /**
   * Base units of the token for each charge. Absent if the schedule charges
   * nothing, because the merchant charges by calls.
   */
  price: bigint | undefined
  /**
   * Number of the newest period that the schedule has finished with, paid or
   * not; 0 if none.
   */
  period: bigint
  /** Id of the scheduled charge whose outcome on chain is still open. */
  chargeId: string | undefined
  /** How many tries to charge the current period failed. */
  tries: number
  /**
   * Time at which the schedule next checks whether to charge. Absent if it is
   * stopped.
   */
  due: bigint | undefined
}

/**
 * Whether a channel takes requests. `opening`: no deposit is credited yet.
 * `stopped`: takes no more requests.
 */
export type ChannelState = 'opening' | 'open' | 'stopped'

/**
 * One payment channel of x402's `batch-settlement` contract: the payer deposits
 * once, then signs one cumulative voucher for each request. The recipient of
 * its destination is the channel's receiver. Amounts are in base units of the
 * token.
 */
export type ChannelRecord = Destination & {
  /**
   * Channel id: 32 bytes in lower case. Its hash contains the chain, so it is
   * unique in the store.
   */
  id: Hex
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /**
   * Sort key: channels stored later have a higher position. The store assigns
   * it on insert.
   */
  position: bigint
  payer: Address
  /** The key that signs vouchers for the payer. */
  payerAuthorizer: Address
  /** The key that signs claims and refunds for the receiver. */
  receiverAuthorizer: Address
  /** Seconds from the start of a withdrawal until the payer can finish it. */
  withdrawDelay: number
  /** 32 bytes that tell apart the channels of one payer. */
  salt: Hex
  state: ChannelState
  /**
   * Why the channel was stopped. `withdrawal`: the payer announced one.
   * `uncovered`: the deposit does not cover the charges. `refund`: a refund is on
   * its way. `merchant`: the merchant stopped it. An open channel has none, or
   * `preconfirmed`: its balance counts a deposit that no block has yet.
   */
  reason: string | undefined
  /** Sum of all charges. */
  charged: bigint
  /** `maxClaimable` of the newest stored voucher; 0 if there is none. */
  signed: bigint
  /** Signature of the newest voucher, encrypted by the sealer. */
  voucher: string | undefined
  /** Copy of the chain: deposits minus refunds and withdrawals. */
  balance: bigint
  /** Copy of the chain: sum of all claims. */
  claimed: bigint
  /** Copy of the chain: amount of the pending withdrawal; 0 if there is none. */
  withdrawing: bigint
  /**
   * When the payer can finish the pending withdrawal, in Unix seconds. Absent
   * if there is none.
   */
  withdrawableAt: bigint | undefined
  /** Copy of the chain: nonce of the next refund. */
  refundNonce: bigint
  /** Number of the block of the copy of the chain. */
  seenBlock: bigint
  /** Time of that block, in Unix seconds. */
  seenAt: bigint
  /**
   * Id of the newest deposit's row in the table of orders, until that is final or
   * has failed.
   */
  depositId: string | undefined
  /**
   * Unix seconds of the first charge that is not claimed. Absent if everything
   * charged is claimed.
   */
  unclaimedSince: bigint | undefined
  /**
   * Unix seconds at which a worker next looks at the channel. Absent if there
   * is nothing to do.
   */
  due: bigint | undefined
  /** Unix seconds of the last charge; before one, of the insert. */
  usedAt: bigint
}

/**
 * One payment that the buyer is asked for, with its own payment nonce. An order
 * can have several, one after the other.
 */
export type AttemptRecord = Pick<Destination, 'chainId' | 'token'> & {
  orderId: string
  /** Number of this payment attempt of the order; the first is 1. */
  number: number
  version: number
  /**
   * 32 bytes, unique among all attempts in the store. For kinds whose payments
   * have a unique nonce, such as EIP-3009, it is that nonce.
   */
  nonce: Hex
  payer: Address | undefined
  /** Window offered to the buyer, in Unix seconds. Both ends are exclusive. */
  validAfter: bigint
  validBefore: bigint
  /** Window of the stored signature, in Unix seconds. */
  signedAfter: bigint | undefined
  signedBefore: bigint | undefined
  /**
   * Keccak-256 hash of the stored signature. Recognizes a signature that is
   * submitted twice, also after the signature itself was erased.
   */
  signatureHash: Hash | undefined
  /**
   * Latest `validBefore` of all signatures that were accepted or offered
   * before, in Unix seconds. Until then, one of them could still be submitted.
   */
  spendableUntil: bigint | undefined
  /**
   * Base units of the token that the payer signs for: the exact amount, or the
   * ceiling.
   */
  value: bigint
  /**
   * Terms of the payment that have no column of their own, such as the checkout
   * contract. Absent for EIP-3009.
   */
  terms: PaymentTerms | undefined
  /**
   * True while anyone who has the stored signature could still submit it, as
   * far as the store knows.
   */
  spendable: boolean
  /**
   * Signature of the payment, encrypted by the sealer. Absent before the payer
   * signs, and erased once the order is final.
   */
  signature: string | undefined
  /**
   * Signature of the payer's cancellation, encrypted by the sealer. Erased once
   * the order is final.
   */
  cancellation: string | undefined
}

/** A payment that a transaction captures or cancels. */
export type Movement = {
  orderId: string
  /** Number of the order's payment attempt. */
  attempt: number
}

/**
 * One transaction of a submitter. It is stored before it is sent, so that a
 * crash cannot lose it.
 */
export type TransactionRecord = {
  chainId: number
  /** Account that sends the transaction. */
  account: Address
  /** Account nonce of the transaction, not a payment nonce. */
  nonce: number
  /**
   * 0 for the first transaction with this account nonce. Each replacement with
   * higher fees adds 1.
   */
  bump: number
  version: number
  /**
   * A `filler` is an empty transaction that only uses up its account nonce.
   */
  kind: 'capture' | 'cancel' | 'filler'
  /**
   * Payments that the transaction captures or cancels. A filler moves nothing:
   * it lists the payments of the transaction that it replaces, if there is one.
   */
  movements: readonly Movement[]
  /**
   * Absent while the wallet that signs and sends the transaction in one step
   * has not returned the hash.
   */
  hash: Hash | undefined
  /**
   * Signed transaction, encrypted by the sealer. Absent if a wallet signs and
   * sends it in one step.
   */
  raw: string | undefined
  /** Gas limit, in units of gas. */
  gas: bigint
  /** Wei per gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Unix milliseconds on the clock of the machine that stored it. */
  recordedAt: bigint
  /**
   * True until a transaction with this account nonce is known to be in a block.
   * Becomes true again when a reorganization removes that transaction.
   */
  inFlight: boolean
}

/**
 * A successful transfer to the recipient, or a cancellation, that was read from
 * the chain.
 */
export type ProofRecord = Destination & {
  transactionHash: Hash
  /**
   * Position of the log among all logs of its block. Negative in a removed
   * record whose place another record of the transaction took.
   */
  logIndex: number
  version: number
  /** `unmatched`: a transfer that belongs to no order. */
  kind: 'capture' | 'cancel' | 'unmatched'
  orderId: string | undefined
  /** Number of the order's payment attempt. */
  attempt: number | undefined
  blockHash: Hash
  blockNumber: bigint
  /** Unix seconds. */
  blockTime: bigint
  payer: Address
  /** Amount in base units of the token; 0 for a cancellation. */
  value: bigint
  /** Account that submitted the transaction. */
  submitter: Address
  /**
   * Gas of the transaction. If it used several EIP-3009 nonces of this token,
   * the payment's share.
   */
  gasUsed: bigint
  /** Wei per gas. */
  effectiveGasPrice: bigint
  /** True when a reorganization removed the transaction from the chain. */
  removed: boolean
}

/**
 * One event of an order or shop. All readers see events by rising cursor, and
 * never miss one.
 */
export type EventRecord = Destination & {
  /**
   * Position in the stream of all events of the store. Cursors rise by 1
   * without gaps, except after a restored backup. The store assigns the cursor.
   */
  cursor: bigint
  /** Absent when the event is not about an order. */
  orderId: string | undefined
  /** Position among the events of the same order; the first is 1. */
  sequence: number
  type: string
  /** Unix milliseconds on the clock of the machine that wrote the event. */
  at: bigint
  data: EventData
}

/**
 * A JSON document with an end, which other parts of the library store for
 * example as a cached answer.
 */
export type NoteRecord = {
  /** Identifies the note. Up to 256 characters. */
  key: string
  /** Starts at 1; each update adds 1. An update of an older version fails. */
  version: number
  /** Unix milliseconds from which the note may be removed. */
  until: bigint
  data: JsonObject
}

/**
 * The exclusive right of one process to do some work, until the lease runs out.
 */
export type Lease = {
  /** Name of the work that the lease covers. */
  key: string
  /** Names the process instance that holds the lease. */
  owner: string
  /**
   * Rises with each new holder of the lease. The store refuses writes with an
   * older fence, so a former holder cannot write.
   */
  fence: bigint
}

/** The current holder of a lease, and when the lease ends. */
export type LeaseHolder = {
  owner: string
  /** When the lease runs out, in Unix milliseconds on the database's clock. */
  until: bigint
}

/** Selects orders in one of these ways. */
export type OrderQuery =
  /** Orders with these ids, in the sequence of `ids`. */
  | { ids: readonly string[] }
  /**
   * Orders with these ids that wait for the merchant's review, in the sequence
   * of these ids.
   */
  | { needReview: readonly string[] }
  /**
   * Orders of these destinations, newest first. Leaves out refunds, and the
   * orders that hold permissions. `before` is a `position`.
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
  /**
   * Orders with a `payer` and a `lookDue`, oldest first. `after` is a
   * `position`.
   */
  | {
      unsettled: readonly Destination[]
      after?: bigint | undefined
      limit: number
    }
  /** Orders of one destination in any state, oldest first. */
  | { oldest: Destination; limit: number }
  /** All refunds of these orders, oldest first. */
  | { refundsOf: readonly string[] }
  /** Refunds in the state `drafted`, oldest first. `after` is a `position`. */
  | {
      refundsDue: readonly Destination[]
      after?: bigint | undefined
      limit: number
    }
  /** Charges of a subscription, newest first. `before` is a `position`. */
  | { chargesOf: string; before?: bigint | undefined; limit: number }

/** Selects subscriptions in one of these ways. */
export type SubscriptionQuery =
  /** Subscriptions with these ids, in the sequence of `ids`. */
  | { ids: readonly string[] }
  /**
   * Subscriptions of these destinations, newest first. `before` is a
   * `position`.
   */
  | {
      listed: readonly Destination[]
      payer?: Address | undefined
      before?: bigint | undefined
      limit: number
    }
  /** Subscriptions whose `due` is at or before `until`, earliest first. */
  | { due: readonly Destination[]; until: bigint; limit: number }

/** Selects channels in one of these ways. */
export type ChannelQuery =
  /** Channels with these ids, in the sequence of `ids`. */
  | { ids: readonly Hex[] }
  /** Channels of these destinations, newest first. `before` is a `position`. */
  | {
      listed: readonly Destination[]
      payer?: Address | undefined
      before?: bigint | undefined
      limit: number
    }
  /** Channels whose `due` is at or before `until`, earliest first. */
  | { due: readonly Destination[]; until: bigint; limit: number }
  /**
   * Channels that are not stopped, have a `balance`, or owe something, whose logs
   * on chain are watched, oldest first. `after` is a `position`.
   */
  | {
      watched: readonly Destination[]
      after?: bigint | undefined
      limit: number
    }
  /**
   * Channels whose voucher another key than `except` encrypted, oldest first.
   * `after` is a `position`.
   */
  | {
      sealed: readonly Destination[]
      except: string
      after?: bigint | undefined
      limit: number
    }

/** Selects attempts in one of these ways. */
export type AttemptQuery =
  | { orderIds: readonly string[] }
  | { nonces: readonly Hex[] }
  /**
   * Attempts of one payer whose signatures can still be submitted. Their sum is
   * what the payer can still be asked for.
   */
  | { exposure: { chainId: number; token: Address; payer: Address } }

/** Selects transactions in one of these ways. */
export type TransactionQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /** Transactions in flight, lowest account nonce first. */
  | { inFlight: Submitter }
  /** All transactions at one account nonce, lowest `bump` first. */
  | { at: Submitter; nonce: number }
  /**
   * Transactions with this account nonce or a higher one, sorted by account
   * nonce, then `bump`.
   */
  | { sentBy: Submitter; fromNonce: number; limit: number }

/** Selects proofs in one of these ways. */
export type ProofQuery =
  | { orderIds: readonly string[] }
  | { hashes: readonly Hash[]; chainId: number }
  /**
   * Proofs of these destinations, sorted by block number, chain id and log
   * index.
   */
  | {
      destinations: readonly Destination[]
      fromBlock?: bigint | undefined
      limit: number
    }

/** Selects events in one of these ways. */
export type EventQuery =
  /** Events with a cursor above `after`, sorted by cursor. */
  | { destinations: readonly Destination[]; after: bigint; limit: number }
  /**
   * Only the newest event of these destinations. With `'all'`, the newest event
   * of the whole store, whichever shop it belongs to.
   */
  | { newest: readonly Destination[] | 'all' }
  /** All events of these orders, sorted by cursor. */
  | { orderIds: readonly string[] }

/** Selects notes in one of these ways. */
export type NoteQuery =
  | { keys: readonly string[] }
  /** Notes whose `until` is at or before `over`, earliest first. */
  | { over: bigint; limit: number }

/** Selects recipients in one of these ways. */
export type RecipientQuery =
  /** All recipients of one shop, sorted by chain id, token and recipient. */
  | { shop: string }
  /** Recipients at these destinations, whichever shop they belong to. */
  | { destinations: readonly Destination[] }

/** Reads rows of one table. */
export type Reader<row, query> = {
  /** Returns each row that the query selects, once even if it matches twice. */
  find(query: query): Promise<row[]>
}

/** Reads and writes rows of one table. */
export type Table<row, query, inserted = Omit<row, 'version'>> = Reader<
  row,
  query
> & {
  /**
   * Adds rows, each with version 1.
   *
   * @throws {@link DuplicateRecordError} when one of the rows exists already.
   * Then the store rolls back the whole transaction.
   */
  insert(rows: readonly inserted[]): Promise<void>
  /**
   * Replaces rows if nobody changed them meanwhile: the version of each row
   * must equal the stored one. Then adds 1 to the version.
   *
   * @throws {@link StaleRecordError} when a row is missing or has another
   * version. Then the store rolls back the whole transaction.
   */
  update(rows: readonly row[]): Promise<void>
}

/** Reads one consistent snapshot of the store. */
export type StoreReader = {
  orders: Reader<OrderRecord, OrderQuery> & {
    /**
     * Counts the orders of these destinations in each state. Leaves out
     * refunds, and the orders that hold permissions.
     */
    count(
      destinations: readonly Destination[],
    ): Promise<Partial<Record<OrderState, number>>>
    /**
     * Like `count`, but separately for each of these destinations. Leaves out
     * counts of 0.
     */
    countEach(destinations: readonly Destination[]): Promise<OrderCount[]>
    /**
     * Finds the orders of a token whose early answer is in one of these states,
     * oldest first. See {@link EarlyQuery}.
     */
    findEarly(query: EarlyQuery): Promise<EarlyRow[]>
  }
  attempts: Reader<AttemptRecord, AttemptQuery>
  transactions: Reader<TransactionRecord, TransactionQuery>
  proofs: Reader<ProofRecord, ProofQuery>
  events: Reader<EventRecord, EventQuery>
  notes: Reader<NoteRecord, NoteQuery>
  subscriptions: Reader<SubscriptionRecord, SubscriptionQuery>
  channels: Reader<ChannelRecord, ChannelQuery>
  recipients: Reader<RecipientRecord, RecipientQuery>
  /** Returns the setting under a key; `undefined` if there is none. */
  getValue(key: string): Promise<StoredValue | undefined>
  /** Returns all settings whose key begins with this text. */
  findValues(prefix: string): Promise<{ key: string; value: StoredValue }[]>
  /**
   * Returns who holds a lease now, by the database's clock; `undefined` if
   * nobody does.
   */
  getLease(key: string): Promise<LeaseHolder | undefined>
  /**
   * Tells which keys encrypted the stored secrets of orders, and the vouchers of
   * channels. A secret begins with the name of its key and a space. Leaves out
   * fillers: transactions that only use up an account nonce carry no signed
   * payment.
   */
  secrets: {
    /**
     * Counts the secrets of these destinations for each key name, vouchers of
     * channels included. A transaction counts once for each of their orders that
     * it carries.
     */
    countKeys(
      destinations: readonly Destination[],
    ): Promise<Readonly<Record<string, number>>>
    /**
     * Returns the ids of orders that have a secret of another key than
     * `except`, each once, in ascending order.
     */
    findOrderIds(query: SecretQuery): Promise<string[]>
  }
}

/**
 * Selects orders of a token by the state of their early answer: one that is
 * given while only the pending block shows the capture.
 */
export type EarlyQuery = Pick<Destination, 'chainId' | 'token'> & {
  early: readonly Exclude<EarlyState, 'paid'>[]
}

/** Selects orders that are over, oldest first. */
export type ArchiveQuery = {
  over: readonly Destination[]
  /** Unix seconds before which the orders were drafted. */
  before: bigint
  /** A `position`: only later orders. */
  after?: bigint | undefined
  limit: number
}

/** Selects orders that have a secret of another key than `except`. */
export type SecretQuery = {
  destinations: readonly Destination[]
  /** Name of a key. Orders whose secrets all have this key are left out. */
  except: string
  /** Returns only ids that sort after this one. */
  after?: string | undefined
  limit: number
}

/**
 * Reads and writes inside one transaction of the store. The store commits all
 * of the writes or none. Reads see the writes that came before them.
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
  /** Readers see events by rising cursor, without gaps. */
  events: Reader<EventRecord, EventQuery> & {
    /** Appends events to the stream and assigns their cursors. */
    append(rows: readonly Omit<EventRecord, 'cursor'>[]): Promise<void>
  }
  notes: Table<NoteRecord, NoteQuery> & {
    /** Removes the notes with these keys. Ignores keys that have no note. */
    remove(keys: readonly string[]): Promise<void>
  }
  subscriptions: Table<
    SubscriptionRecord,
    SubscriptionQuery,
    Omit<SubscriptionRecord, 'version' | 'position'>
  >
  channels: Table<
    ChannelRecord,
    ChannelQuery,
    Omit<ChannelRecord, 'version' | 'position'>
  >
  /**
   * Recipients found by their destination do not change until the transaction
   * ends.
   */
  recipients: Table<RecipientRecord, RecipientQuery>
  /** Returns the setting under a key; `undefined` if there is none. */
  getValue(key: string): Promise<StoredValue | undefined>
  /** Writes the setting under a key, and replaces any earlier value. */
  setValue(key: string, value: StoredValue): Promise<void>
  /**
   * Waits until no other transaction holds the lock with this name, then holds
   * it until the end of this transaction.
   */
  lock(name: string): Promise<void>
}

/**
 * Stores orders and all that belongs to them. Each `write` is atomic, isolated
 * from other writes of the same rows, and durable once its promise resolves.
 */
export type PaymentStore = {
  /**
   * Prepares the database on the first call. Returns its identity, a text that
   * changes when a copy or a restored backup replaces the database.
   *
   * @throws {@link StoreError} when the database cannot be reached, or does not
   * make writes durable.
   */
  open(): Promise<{ identity: string }>
  /** Runs reads that all see the same snapshot. */
  read<result>(work: (store: StoreReader) => Promise<result>): Promise<result>
  /**
   * Runs one transaction. If the database rolls the transaction back, `work`
   * runs again from its start, so `work` must have no effect outside the store.
   *
   * @param options.lease a lease that must still be held when the transaction
   * commits.
   * @throws {@link LeaseLostError} when the lease was released or another owner
   * has taken it. Then the store rolls back the transaction.
   */
  write<result>(
    work: (store: StoreWriter) => Promise<result>,
    options?: { lease?: Lease | undefined },
  ): Promise<result>
  /**
   * Takes a lease that is free or has run out by the database's clock, or
   * prolongs the lease if this owner holds it. Returns `undefined` when another
   * owner holds it.
   *
   * A prolonged lease keeps its fence. A newly taken lease has a higher one.
   * The store never gives the same fence twice for a key, not even after a
   * release.
   */
  takeLease(parameters: {
    /** Name of the work that the lease covers. */
    key: string
    /** Names the process instance that takes the lease. */
    owner: string
    /** Milliseconds until the lease runs out. */
    milliseconds: number
  }): Promise<Lease | undefined>
  /**
   * Releases a lease, so that others can take it at once. Leaves no row in the
   * database. Does nothing if the lease is lost already.
   */
  releaseLease(lease: Lease): Promise<void>
  /**
   * Moves orders that are over to the archive: a second set of tables, with
   * their attempts, transactions, proofs and events. All queries find them
   * there as before, except those for work: due, open, unsettled or settled
   * orders, early answers, transactions in flight, and secrets. A transaction
   * that updates one of them moves it back first.
   *
   * An order is over if its end is final, and nothing of it is due, sent or
   * waiting. Absent in a store that gains nothing by it.
   *
   * @returns `moved`: number of orders; `last`: position of the last one that
   * was looked at, for the next call; absent if there was none.
   */
  archive?(
    query: ArchiveQuery,
  ): Promise<{ moved: number; last: bigint | undefined }>
  /**
   * Calls `listener` when a process may have written events. This is only a
   * hint: the call may come late or never. Returns a function that unregisters
   * the listener.
   *
   * @param listener gets the key of the lease under which this process wrote,
   * so that a worker can ignore its own writes. Gets `undefined` if the write
   * had no lease, or another process wrote.
   */
  onChange?(listener: (by?: string) => void): () => void
  /**
   * Returns a second store over the same database that creates, migrates and
   * cleans up nothing. So a tool of another release or machine can read the
   * database of running workers. Its `open` fails if there is no database, or
   * if the tables are of another version. With `'read'`, `write` and leases
   * fail too. The caller closes the returned store.
   */
  attach?(access: 'read' | 'write'): PaymentStore
  /** True for a store that `attach` returned. */
  readonly isAttached?: true | undefined
  /**
   * Aborts when no call can succeed any more until the process is restarted,
   * with the error of such a call as its reason. Then every `run` ends with
   * this error.
   */
  readonly lost?: AbortSignal | undefined
  /** Closes the store. Do not call its methods afterwards. */
  close(): Promise<void>
}

/**
 * Payment, transaction or voucher that a secret belongs to. A sealed secret
 * opens only with the same context, so it is useless when copied to another
 * row.
 */
export type SealContext =
  | {
      /**
       * `answer`: an answer that was sold to an x402 client, stored to send it
       * to the same payer again.
       */
      kind: 'payment' | 'cancellation' | 'answer'
      orderId: string
      /** Number of the order's payment attempt. */
      attempt: number
      chainId: number
      token: Address
      payer: Address
      /** Payment nonce, 32 bytes. */
      nonce: Hex
    }
  | {
      /** The key that signs claims and refunds of a shop's channels. */
      kind: 'authorizer'
      /** Name of the shop; empty if it has none. */
      shop: string
      /** Address of the key. */
      account: Address
    }
  | ({
      kind: 'transaction'
      /**
       * Whether the transaction captures, cancels, or only uses up its account
       * nonce.
       */
      action: TransactionRecord['kind']
      /** Account nonce of the transaction, not a payment nonce. */
      accountNonce: number
    } & Pick<TransactionRecord, 'chainId' | 'account' | 'bump'>)
  | {
      /** A voucher of a payment channel. */
      kind: 'voucher'
      /** Channel id, 32 bytes. Its hash contains the chain. */
      channelId: Hex
      /** The cumulative amount that was signed, in base units of the token. */
      maxClaimable: bigint
    }

/**
 * Encrypts signatures and raw transactions before they are stored. The library
 * tries a call again later if it takes longer than `policy.sealTimeout`, or
 * fails with anything but a {@link SealError}.
 */
export type Sealer = {
  /** Name of the key that seals. Each sealed text begins with it and a space. */
  readonly current: string
  /**
   * Names of all keys that stored secrets may have. Calls that use secrets fail
   * while a stored secret has another key.
   */
  readonly keyNames: readonly string[]
  /** Encrypts a secret. The text opens only with an equal context. */
  seal(secret: string, context: SealContext): Promise<string>
  /**
   * Decrypts a sealed secret.
   *
   * @throws {@link SealError} when the text does not open with this context.
   */
  open(sealed: string, context: SealContext): Promise<string>
}
