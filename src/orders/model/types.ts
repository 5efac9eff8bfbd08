import type { Address, Hash, Hex } from 'viem'
import type {
  AnyPayment,
  Cancellation,
  Finality,
  Payment,
  PaymentTerms,
  RejectionReason,
  VerifiedAt,
} from '../../core/types.js'
import type {
  Destination,
  JsonObject,
  OrderReason,
  OrderState,
  Submitter,
} from '../../store/types.js'
import type { Refund } from './refundTypes.js'
import type { SettledCancellation, SettledCapture } from './settledTypes.js'

/**
 * Limits of the total of payments that are answered at `preconfirmed`, before a
 * block has their capture; for all recipients of these orders together.
 * Decimals in whole tokens, such as `'100'`. A limit for each payer is not
 * enough alone, because anyone can pay from many addresses.
 */
type MostAtRisk = {
  /** Limit for all payers together. */
  total: string
  /** Limit for each payer. @default total */
  payer?: string | undefined
}

/** Rules for all orders; each field has a default. */
export type OrdersPolicy = {
  /**
   * Default seconds that the buyer has to sign, and we have to capture.
   * @default 900n
   */
  window?: bigint | undefined
  /** Longest window that a draft may ask for, in seconds. @default 86_400n */
  maxWindow?: bigint | undefined
  /**
   * When to capture. `manual`: when you call `capture`. `onAccept`: as soon as
   * a payment is stored. `beforeDeadline`: when only `deadlineNear` seconds are
   * left.
   * @default 'manual'
   */
  capture?: 'manual' | 'onAccept' | 'beforeDeadline' | undefined
  /**
   * Number of seconds before the end of a window from which the end counts as
   * near.
   * @default 300n
   */
  deadlineNear?: bigint | undefined
  /**
   * Number of seconds before the end of a window from which we send no
   * transaction, because it could be mined too late.
   * @default 20n
   */
  safetyMargin?: bigint | undefined
  /** Highest cost of one capture, in wei. @default no limit */
  maxFee?: bigint | undefined
  /** Highest gas limit of one capture. @default 300_000n */
  maxCaptureGas?: bigint | undefined
  /**
   * Whether to accept payments by contracts, such as smart wallets. Checked
   * again before each capture is sent. @default 'accept'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * When to send a buyer's cancellation, at your cost. `onApproval`: when you
   * call `approveCancellation`. `always`: at once, but for one payer at most
   * three cancellations of orders that were drafted within a day; you approve
   * further ones.
   * @default 'onApproval'
   */
  relayCancellations?: 'always' | 'onApproval' | undefined
  /**
   * Finality that a capture needs before the `fulfil` event is sent. If several
   * processes of a named shop set it, the one that started last decides for
   * all.
   * @default 'safe'
   */
  fulfilAt?: Exclude<Finality, 'preconfirmed'> | undefined
  /**
   * For chains whose node has no `safe` or `finalized` block: the number of
   * later blocks after which a block counts as such.
   */
  blocks?: { safe: number; finalized: number } | undefined
  /** Most unmined transactions of one account at a time. @default 16 */
  maxInFlight?: number | undefined
  /**
   * Whether one transaction may capture many payments where a contract makes it
   * safe: each is captured or fails without the others. `off`: one transaction
   * for each.
   * @default 'auto'
   */
  batch?: 'auto' | 'off' | undefined
  /** Most payments of one transaction. @default 100 */
  maxBatch?: number | undefined
  /**
   * Seconds after which we raise the fee of a transaction that is not mined.
   * @default 15
   */
  bumpAfter?: number | undefined
  /**
   * Milliseconds after which another worker may take over a submitter or the
   * watching of a chain, if the current worker does not renew its lease.
   * @default 15_000
   */
  lease?: number | undefined
  /**
   * Milliseconds that a local account, or its key service, may take to sign one
   * transaction. @default 10_000
   */
  signTimeout?: number | undefined
  /**
   * Milliseconds that the sealer may take to encrypt or decrypt one secret.
   * After that, the secret is tried again later. @default 5_000
   */
  sealTimeout?: number | undefined
  /**
   * Milliseconds that the wallet of a JSON-RPC account may take to sign and
   * send one transaction. A wallet that is late may still have sent it.
   * @default 120_000
   */
  walletTimeout?: number | undefined
  /**
   * Largest total, for each token, of payments that were or may still be
   * answered at `preconfirmed`, and whose capture is in no block yet: the chain
   * can still drop these captures. In whole tokens.
   * @default nothing is answered at `preconfirmed`
   */
  mostAtRisk?: MostAtRisk | undefined
  /**
   * Milliseconds between two polls of a chain while something waits for it: a
   * transaction in flight, a new payment record, or an order that is due. If
   * blocks come at a steady pace and the chain has no pending blocks, a
   * transaction in flight is looked up once per block instead.
   * @default measured from the chain's blocks
   */
  pollingInterval?: number | undefined
  /**
   * Milliseconds between two polls of a chain while nothing waits for it. Each
   * poll updates the finality of orders, and every fourth reads the logs, so a
   * payment that nobody reported can take that long to be found.
   *
   * @default `pollingInterval` if you set it; otherwise 15_000, and on
   * development chains (ids 31337 and 1337), and with `chainClock: 'own'`, the
   * interval of a busy chain
   */
  quietInterval?: number | undefined
  /**
   * `checked`: refuse new orders and payments while the clocks of chain and
   * machine differ by over 120 seconds. `own`: skip this check, because you set
   * the clock of these chains yourself, as on a fork for tests. Never use `own`
   * for a public chain.
   * @default 'checked'
   */
  chainClock?: 'checked' | 'own' | undefined
}

export type SettledPolicy = {
  [name in keyof OrdersPolicy]-?: name extends
    | 'maxFee'
    | 'mostAtRisk'
    | 'blocks'
    | 'pollingInterval'
    | 'quietInterval'
    ? OrdersPolicy[name]
    : Exclude<OrdersPolicy[name], undefined>
}

/** Current time in Unix milliseconds, by this machine's clock. */
export type HasClock = { now: () => bigint }

type HasSubmitter = {
  submitter: Submitter
  /** Set if the account captures for another, the treasury. */
  key?: { treasury: Address } | undefined
}

/**
 * All wallets, and `relayers`: the accounts that send for recipients without a
 * wallet.
 */
export type Senders<wallet extends HasSubmitter = HasSubmitter> = {
  wallets: readonly wallet[]
  relayers: readonly Submitter[]
}

/**
 * The recipients of an instance, read from here at each use, because they can
 * change while workers run.
 *
 * Without a shop name they are those of the configuration. With a name they are
 * rows in the store, which all instances of the shop share.
 */
export type Shop = {
  readonly name: string | undefined
  readonly configured: ShopConfiguration
  /** Counts the changes of a named shop; 0 without a name. */
  readonly changes: number
  /**
   * Names of the kinds of payments that the shop takes; empty if not
   * configured.
   */
  readonly kinds: readonly string[]
  readonly policy: SettledPolicy
  readonly recipients: readonly Address[]
  /**
   * Includes removed recipients, because their orders are still watched.
   * Frozen: lookup tables are cached for each list.
   */
  readonly destinations: readonly Destination[]
  /**
   * True for a destination that was removed from the shop: it gets no new
   * orders.
   */
  isRemoved(destination: Destination): boolean
  /** Ignores recipients of the configuration that belong to another shop. */
  leaveOut(destinations: readonly Destination[]): void
  /** Reads the shop from the store again, if another process changed it. */
  refresh(): Promise<void>
}

/** What the parameters of `createOrders` say about the shop. */
export type ShopConfiguration = {
  /**
   * Accounts of `wallets` and `recipients`, combined with all tokens of this
   * instance.
   */
  destinations: readonly Destination[]
  /** The parameter `recipients` of `createOrders`. */
  recipients: readonly Address[]
  /**
   * The parameter `policy.fulfilAt`. If absent, the value in the store counts.
   */
  fulfilAt: SettledPolicy['fulfilAt'] | undefined
  kinds: readonly string[] | undefined
}

/**
 * An order as the merchant sees it, without signatures and other credentials.
 */
export type Order = Destination & {
  id: string
  state: OrderState
  attempt: number
  nonce: Hex
  payer: Address | undefined
  /** Kind of the order's payments: `eip3009`, or the name of one of `kinds`. */
  kind: string
  /**
   * Decimal amount in whole tokens. For an order with a ceiling, the amount
   * that `capture` named; before that, the ceiling.
   */
  amount: string
  /** `amount` in token units. */
  value: bigint
  /** The ceiling that the payer signs; absent if the amount is exact. */
  atMost: string | undefined
  /**
   * Type of the message that the payer signs. Absent for charges of
   * subscriptions, for which nothing more is signed.
   */
  primaryType: AnyPayment['primaryType'] | undefined
  /**
   * The window that was offered last, in Unix seconds; both ends are exclusive.
   */
  validAfter: bigint
  validBefore: bigint
  /**
   * Unix seconds until which a signature that we have can still be submitted.
   * If the order was offered with several windows, the longest counts, because
   * the buyer may have signed each.
   */
  spendableUntil: bigint | undefined
  requested: 'capture' | 'void' | 'cancel' | undefined
  /** Why the last capture or cancellation did not happen. */
  reason: OrderReason | undefined
  needsReview: boolean
  unexpected: boolean
  overpaid: boolean
  metadata: JsonObject
  createdAt: bigint
  /**
   * Hash of the capture in the pending block, if the network shows that block.
   * The chain can still drop it, so we do not fulfil on it.
   */
  preconfirmed: Hash | undefined
  capture: SettledCapture | undefined
  cancellation: SettledCancellation | undefined
  /** Refunds of the order, the oldest first. */
  refunds: readonly Refund[]
  /** Token units that were refunded on chain, of all payments of the order. */
  refunded: bigint
  /**
   * Token units that `refund` can still refund of the payment that settled the
   * order. Does not count the second payment of an order that is `overpaid`:
   * refund that one by the `refundId` of the `overpaid` event.
   */
  refundable: bigint
}

/** The message to sign. `from` is absent if any account may pay. */
type DraftedMessage = Omit<AnyPayment['message'], 'from'> & {
  from?: Address | undefined
}

/**
 * A payment to sign. If the order names no payer, the signer fills in `from`.
 */
export type DraftedPayment = Pick<Payment, 'primaryType' | 'domain'> & {
  message: DraftedMessage
}

/** A payment to sign, of any kind. */
export type AnyDraftedPayment = Pick<AnyPayment, 'primaryType' | 'domain'> & {
  message: DraftedMessage
  /** Who is paid and who can capture. Absent for an exact amount. */
  checkout?: PaymentTerms | undefined
}

/** A new order, with the payment to sign and the token for its buyer. */
export type DraftedOrder<payment = DraftedPayment> = {
  order: Order
  payment: payment
  /**
   * Secret that identifies the buyer: pass it to `getForBuyer`. We store only
   * its hash.
   */
  buyerToken: string
}

/** Why an order accepts no payment, besides reasons of the payment itself. */
export type AcceptRefusal =
  /** The payment's window differs from the one that was offered last. */
  | 'wrongWindow'
  | 'exposureTooHigh'
  | 'submitterFunds'
  /** The wallet that sends for the order was removed, and no other may send. */
  | 'noWallet'
  | 'contractPayer'
  | 'otherPayment'
  /**
   * The payer has another open permit of the token, and capturing one would
   * make the other invalid.
   */
  | 'permitOpen'
  | 'tooManyTries'
  | 'acceptInFlight'
  | 'notOpen'

/** Whether the order accepts the payment, or why not. */
export type AcceptVerdict =
  | { ok: true; order: Order; at: VerifiedAt | undefined }
  | {
      ok: false
      reason: RejectionReason | AcceptRefusal
      details: Readonly<Record<string, unknown>>
    }

/** Why a capture is not started, besides refusals by the token. */
export type CaptureRefusal =
  | 'feeTooHigh'
  | 'notOpen'
  | 'deadlinePassed'
  /** The payer has become a contract, and the policy refuses contracts. */
  | 'contractPayer'
  /**
   * An older signature of the payer is valid again, because a reorg undid its
   * cancellation. Both could be captured.
   */
  | 'otherPayment'
  /**
   * The order has another exact amount, or an earlier `capture` named another
   * one.
   */
  | 'otherAmount'
  /** The amount is above the ceiling that the payer signed. */
  | 'exceedsCeiling'
  /** The stored signature cannot be decrypted. */
  | 'sealBroken'

/** Result of a capture. */
export type CaptureResult =
  | { status: 'captured'; order: Order; proof: SettledCapture }
  /**
   * Only with `answerAt: 'preconfirmed'`: the pending block shows the capture.
   * The chain can still drop it.
   */
  | { status: 'preconfirmed'; order: Order; transactionHash: Hash }
  | {
      status: 'rejected'
      order: Order
      reason: OrderReason | CaptureRefusal | 'canceled'
    }
  /**
   * Not decided yet. `resolvedBy` says what will decide it, at the latest at
   * `until`, in Unix seconds.
   */
  | {
      status: 'unknown'
      order: Order
      resolvedBy: 'worker' | 'chain' | 'window'
      until: bigint
    }

/** Whether the order is voided, and until when it can still be paid. */
export type VoidVerdict =
  | { ok: true; order: Order; spendableUntil: bigint | undefined }
  | { ok: false; reason: 'captureInFlight' | 'notOpen'; order: Order }

/** Whether the cancellation is accepted. With `call`, we do not send it. */
export type CancellationVerdict =
  | { ok: true; order: Order }
  /**
   * The order is voided, and we do not send the cancellation: the buyer can
   * send this call.
   */
  | { ok: true; order: Order; call: { to: Address; data: Hex } }
  | {
      ok: false
      reason:
        | RejectionReason
        | 'captureInFlight'
        | 'notOpen'
        | 'otherPayment'
        | 'tooManyTries'
      order: Order
    }

/** The payment to sign again, or why there is none. */
export type ReauthorizeVerdict =
  | { ok: true; order: Order; payment: AnyDraftedPayment }
  | { ok: false; reason: 'notOpen'; order: Order }

/** The cancellation for the buyer to sign, or why there is none. */
export type CancellationToSignVerdict =
  | { ok: true; order: Order; cancellation: Cancellation }
  /**
   * `unsupportedToken`: payments of the order's kind have no cancellation to
   * sign. For example, a payer can end a permit only by using its nonce for
   * another one.
   */
  | { ok: false; reason: 'notOpen' | 'unsupportedToken'; order: Order }
