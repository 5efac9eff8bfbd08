import type { Account, Address, Client, Hash, Hex } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Keccak256 } from '../../core/keccak.js'
import type { Observation } from '../../core/observeFailure.js'
import type {
  AnyPayment,
  Cancellation,
  Finality,
  Payment,
  PaymentTerms,
  RejectionReason,
  SignedPayment,
  VerifiedAt,
} from '../../core/types.js'
import type { PaymentKind } from '../../payments/kind.js'
import type {
  Destination,
  JsonObject,
  OrderReason,
  OrderState,
  PaymentStore,
  Sealer,
  Submitter,
} from '../../store/types.js'
import type { OrderKinds } from './kindOf.js'
import type { Refund } from './refundTypes.js'
import type { SettledCancellation, SettledCapture } from './settledTypes.js'
import type { OrderLoader } from './storedOrder.js'

/** A token that you accept as payment, and a client of its chain. */
export type OrderToken = { client: Client; token: Address }

export const tokenMembers: MembersOf<OrderToken> = {
  client: true,
  token: true,
}

/**
 * Decimals in whole tokens, such as `'100'`, together for all recipients of
 * these orders. A limit for each payer is not enough alone, because anyone can
 * pay from many addresses.
 */
type MostAtRisk = {
  /** For all payers together. */
  total: string
  /** For each payer. @default total */
  payer?: string | undefined
}

export const mostAtRiskMembers: MembersOf<MostAtRisk> = {
  total: true,
  payer: true,
}

/** Rules for all orders; each field has a default. */
export type OrdersPolicy = {
  /**
   * Default seconds in which the buyer signs and the payment is captured.
   * @default 900n
   */
  window?: bigint | undefined
  /** Longest window of a draft, in seconds. @default 86_400n */
  maxWindow?: bigint | undefined
  /**
   * When to capture. `manual`: when you call `capture`. `onAccept`: as soon as
   * a payment is stored. `beforeDeadline`: when `deadlineNear` is reached.
   * @default 'manual'
   */
  capture?: 'manual' | 'onAccept' | 'beforeDeadline' | undefined
  /**
   * Seconds before the end of a window from which the end counts as near.
   * @default 300n
   */
  deadlineNear?: bigint | undefined
  /**
   * Seconds before the end of a window from which we send nothing more.
   * @default 20n
   */
  safetyMargin?: bigint | undefined
  /** Most one capture may cost, in wei. @default no limit */
  maxFee?: bigint | undefined
  /** Most gas one capture may take. @default 300_000n */
  maxCaptureGas?: bigint | undefined
  /**
   * Whether to accept payers that are contracts. Checked again before each
   * capture is sent. @default 'accept'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * When to send a buyer's cancellation. `always` sends at most three for one
   * payer's orders drafted within a day; the merchant approves further ones.
   * @default 'onApproval'
   */
  relayCancellations?: 'always' | 'onApproval' | undefined
  /**
   * How sure the chain must be before an order is fulfilled. If several
   * processes of a named shop set it, the one that started last decides for
   * all.
   * @default 'safe'
   */
  fulfilAt?: Exclude<Finality, 'preconfirmed'> | undefined
  /**
   * For chains whose node has no `safe` or `finalized` block: the number of
   * blocks after which a block counts as such.
   */
  blocks?: { safe: number; finalized: number } | undefined
  /** Most transactions of one account in flight at once. @default 16 */
  maxInFlight?: number | undefined
  /** Seconds without progress after which we raise the fee. @default 15 */
  bumpAfter?: number | undefined
  /**
   * Milliseconds after which another worker may take over the submitter or the
   * watch of a chain, if this one does not renew its lease. @default 15_000
   */
  lease?: number | undefined
  /**
   * Milliseconds that a local account, or its key service, has to sign one
   * transaction. @default 10_000
   */
  signTimeout?: number | undefined
  /**
   * Milliseconds that the sealer has to seal or open one secret. A secret that
   * takes longer is tried again later. @default 5_000
   */
  sealTimeout?: number | undefined
  /**
   * Milliseconds that the wallet of a JSON-RPC account has to sign and send one
   * transaction. A wallet that is late may still have sent it. @default 120_000
   */
  walletTimeout?: number | undefined
  /**
   * Largest sum that may be at risk at once, in whole tokens, for each token:
   * payments answered at `preconfirmed`, or that may still be, whose capture no
   * block shows yet. @default nothing is answered at `preconfirmed`
   */
  mostAtRisk?: MostAtRisk | undefined
  /**
   * Milliseconds between two polls of a chain while something waits for it: a
   * transaction in flight, a new proof, or an order that is due. If blocks come
   * at a steady pace and the chain pre-confirms nothing, a transaction in flight
   * is looked for once a block instead.
   * @default as the network shows
   */
  pollingInterval?: number | undefined
  /**
   * Milliseconds between two polls of a chain while nothing waits for it. Each
   * poll raises finality, and every fourth reads the logs: finding a payment
   * that nobody reported can take that long.
   *
   * @default `pollingInterval` if you set it; otherwise 15_000, and on
   * development chains (ids 31337 and 1337) the interval of a busy chain
   */
  quietInterval?: number | undefined
  /**
   * `checked`: refuse new work while the clocks of chain and machine differ by
   * over 120 seconds. `own`: you set the clock of these chains yourself, as on
   * a fork for tests; never for a chain of others.
   * @default 'checked'
   */
  chainClock?: 'checked' | 'own' | undefined
}

/** Parameters of {@link createOrders}. */
export type CreateOrdersParameters = {
  store: PaymentStore
  /**
   * Name of the shop in the store: a letter, then up to 62 letters, digits and
   * hyphens; the same in all its processes. Its recipients are kept in the
   * store, so that `changeRecipients` can change them while workers run.
   * @default none: the recipients are those given here
   */
  shop?: string | undefined
  tokens: readonly OrderToken[]
  /**
   * Clients with an account. Each account sends the captures of payments to
   * itself and pays their gas.
   */
  wallets: readonly Client[]
  /**
   * Encrypts credentials before they are stored. Pass `'none'` to store them
   * unencrypted.
   */
  seal: Sealer | 'none'
  /**
   * Further recipients of `TransferWithAuthorization` payments; relayers send
   * their captures.
   */
  recipients?: readonly Address[] | undefined
  /**
   * Accounts of `wallets` that send the captures for all recipients without a
   * wallet, and pay the gas. @default on each chain with a single wallet, that
   * wallet
   */
  relayers?: readonly Address[] | undefined
  policy?: OrdersPolicy | undefined
  /** Called after each piece of work with its name, duration and outcome. */
  observe?: ((observation: Observation) => void) | undefined
  /**
   * Hashes signatures, buyers' tokens and signed transactions.
   * `countersign/accelerate` loads a fast one. @default viem's
   */
  keccak256?: Keccak256 | undefined
  /**
   * Further kinds of payments than EIP-3009, such as `checkout`. An order that
   * is drafted with `atMost` takes the first kind that its token supports.
   */
  kinds?: readonly PaymentKind[] | undefined
}

export const ordersMembers: MembersOf<CreateOrdersParameters> = {
  store: true,
  shop: true,
  tokens: true,
  wallets: true,
  seal: true,
  recipients: true,
  relayers: true,
  policy: true,
  observe: true,
  keccak256: true,
  kinds: true,
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

export type OrderWallet = {
  client: Client
  account: Account
  submitter: Submitter
}

/** A payment that passed its rehearsal. */
export type RehearsedPayment = {
  payment: SignedPayment
  signatureHash: Hex | undefined
  /** The block at which it passed; time in Unix seconds. */
  head: { number: bigint; timestamp: bigint }
  /** Gas limit of its capture. */
  gas: bigint
  /** True when the rehearsal refuses payers that are contracts. */
  refusesContracts: boolean
}

/**
 * Memory of payments that were just accepted. While no new block comes, their
 * capture needs no second rehearsal: it would run on the same state.
 */
export type RehearsalMemory = {
  remember(orderId: string, rehearsed: RehearsedPayment): void
  /** Returns and forgets the rehearsal of an order's payment. */
  take(orderId: string): RehearsedPayment | undefined
}

/**
 * The recipients of an instance. This is the only place that holds them:
 * everything else reads them here each time.
 *
 * Without a name they are those of the configuration. With a name they are rows
 * in the store, which all instances of the shop share.
 */
export type Shop = {
  readonly name: string | undefined
  readonly configured: ShopConfiguration
  /** Grows with each change of a named shop; 0 without a name. */
  readonly changes: number
  /** Names of the kinds of payments that the shop takes, if it says so. */
  readonly kinds: readonly string[]
  readonly policy: SettledPolicy
  readonly recipients: readonly Address[]
  /**
   * Includes removed recipients, because their orders are still watched.
   * Frozen: lookup tables are cached for each list.
   */
  readonly destinations: readonly Destination[]
  /** True when a destination was removed: it takes no new orders. */
  isRemoved(destination: Destination): boolean
  /** Leaves out recipients of the configuration that another shop has. */
  leaveOut(destinations: readonly Destination[]): void
  /** Reads the shop again if another process changed it. */
  refresh(): Promise<void>
}

/** What the parameters of `createOrders` say about the shop. */
export type ShopConfiguration = {
  /** Accounts of `wallets` and `recipients`, in all tokens of this instance. */
  destinations: readonly Destination[]
  /** The parameter `recipients`. */
  recipients: readonly Address[]
  /** Absent if not given: then the value in the store counts. */
  fulfilAt: SettledPolicy['fulfilAt'] | undefined
  kinds: readonly string[] | undefined
}

/** The context that all code of the orders receives. */
export type OrdersContext = {
  store: PaymentStore
  /**
   * Loads orders for reading. All that are requested in one turn of the event
   * loop share one query.
   */
  loader: OrderLoader
  sealer: Sealer
  kinds: OrderKinds
  policy: SettledPolicy
  tokens: readonly (OrderToken & { chainId: number })[]
  wallets: readonly OrderWallet[]
  /** Submitters of wallets that send for recipients without a wallet. */
  relayers: readonly Submitter[]
  shop: Shop
  /**
   * Read from `shop` at each use, like `policy` and `destinations`: do not keep
   * a copy.
   */
  recipients: readonly Address[]
  destinations: readonly Destination[]
  /** Name of each chain's watch, by chain id: see `nameWatches`. */
  watches: ReadonlyMap<number, string>
  /** Aborts requests to nodes, where that is possible. */
  signal?: AbortSignal | undefined
  /** Name of this instance in leases. */
  owner: string
  /** Payments that this process has just accepted. */
  rehearsals: RehearsalMemory
  /** Ids of the orders whose payment this process is verifying now. */
  accepting: Set<string>
  observe: (observation: Observation) => void
  keccak256: Keccak256
  /** Unix milliseconds of this machine. */
  now: () => bigint
}

/** The public view of an order, without credentials. */
export type Order = Destination & {
  id: string
  state: OrderState
  attempt: number
  nonce: Hex
  payer: Address | undefined
  /** Name of the kind of its payments: `eip3009`, or one of `kinds`. */
  kind: string
  /**
   * Decimal amount in whole tokens. With a ceiling, the amount that `capture`
   * named, and before that the ceiling.
   */
  amount: string
  /** `amount` in token units. */
  value: bigint
  /** The ceiling that the payer signs; absent if the amount is exact. */
  atMost: string | undefined
  primaryType: AnyPayment['primaryType']
  /** The newest window in Unix seconds, both ends exclusive. */
  validAfter: bigint
  validBefore: bigint
  /**
   * Unix seconds until which a signature that we hold can still be submitted.
   * The longest window that was offered counts, even if another one was
   * accepted.
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
  /** Oldest first. */
  refunds: readonly Refund[]
  /** Token units that the chain shows as paid back, of all payments. */
  refunded: bigint
  /**
   * Token units that `refund` can still pay back of the payment that settled
   * the order. The second payment of an order that is `overpaid` is not
   * counted: the `refundId` of that event refunds it.
   */
  refundable: bigint
}

/** The message of a payment to sign. */
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
  /** Who is paid and who can capture; absent if the amount is exact. */
  checkout?: PaymentTerms | undefined
}

/** A new order, with the payment and the token for its buyer. */
export type DraftedOrder<payment = DraftedPayment> = {
  order: Order
  payment: payment
  /** Proves that its holder is the buyer. We store only its hash. */
  buyerToken: string
}

/** Why an order accepts no payment, apart from faults of the payment itself. */
export type AcceptRefusal =
  /** The payment's window is not the one offered last. */
  | 'wrongWindow'
  | 'exposureTooHigh'
  | 'submitterFunds'
  /** The wallet of the order's account was removed, and no other may send. */
  | 'noWallet'
  | 'contractPayer'
  | 'otherPayment'
  /** The payer has another open permit of the token. */
  | 'permitOpen'
  | 'tooManyTries'
  | 'acceptInFlight'
  | 'notOpen'

/** Whether the order accepts the payment, and why not. */
export type AcceptVerdict =
  | { ok: true; order: Order; at: VerifiedAt | undefined }
  | {
      ok: false
      reason: RejectionReason | AcceptRefusal
      details: Readonly<Record<string, unknown>>
    }

/** Why a capture is not started, apart from refusals by the token. */
export type CaptureRefusal =
  | 'feeTooHigh'
  | 'notOpen'
  | 'deadlinePassed'
  /** The payer is a contract by now, and the policy refuses contracts. */
  | 'contractPayer'
  /**
   * An older signature of the payer is valid again, because a reorg undid its
   * cancellation.
   */
  | 'otherPayment'
  /** The order has another amount, or `capture` named another one before. */
  | 'otherAmount'
  /** The amount is above the ceiling. */
  | 'exceedsCeiling'
  /** The seal of the stored signature does not open. */
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
   * Not decided yet. `resolvedBy` will decide it, at the latest at `until`, in
   * Unix seconds.
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

/** Whether the cancellation is accepted, and who sends it. */
export type CancellationVerdict =
  | { ok: true; order: Order }
  /** Voided. We do not send the cancellation: the buyer can send this call. */
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
   * `unsupportedToken`: payments of the order's kind have no such cancellation.
   * A payer can end a permit only by using its nonce for another one.
   */
  | { ok: false; reason: 'notOpen' | 'unsupportedToken'; order: Order }
