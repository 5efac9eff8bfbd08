import type { Account, Address, Client, Hash, Hex } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Keccak256 } from '../../core/keccak.js'
import type { CaptureProof } from '../../core/receiptProof.js'
import type {
  Cancellation,
  Finality,
  JudgedAt,
  Payment,
  PrimaryType,
  RejectionReason,
} from '../../core/types.js'
import type {
  Destination,
  JsonObject,
  OrderReason,
  OrderState,
  PaymentStore,
  Sealer,
  Submitter,
} from '../../store/types.js'
import type { OrderLoader } from './storedOrder.js'

/** A token that is accepted as payment, and a client of its chain. */
export type OrderToken = { client: Client; token: Address }

export const tokenMembers: MembersOf<OrderToken> = {
  client: true,
  token: true,
}

/** How orders are handled; each field has a default. */
export type OrdersPolicy = {
  /** Seconds a buyer has by default to sign and a payment to be captured. @default 900n */
  window?: bigint | undefined
  /** Longest window a draft may ask for, in seconds. @default 86_400n */
  maxWindow?: bigint | undefined
  /**
   * `manual`: when `capture` is called. `onAccept`: as soon as a payment is
   * stored. `beforeDeadline`: when `deadlineNear` is reached.
   * @default 'manual'
   */
  capture?: 'manual' | 'onAccept' | 'beforeDeadline' | undefined
  /** Seconds before the end of a window at which it counts as near. @default 300n */
  deadlineNear?: bigint | undefined
  /** Seconds before the end of a window from which nothing is sent any more. @default 20n */
  safetyMargin?: bigint | undefined
  /** Most one capture may cost, in wei. @default no limit */
  maxFee?: bigint | undefined
  /** Most gas one capture may take. @default 300_000n */
  maxCaptureGas?: bigint | undefined
  /**
   * Whether payers that are contracts are taken; asked again when a capture is
   * sent. @default 'accept'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * When to send a buyer's cancellation. `always` sends at most three for one
   * payer's orders drafted within a day; the merchant approves further ones.
   * @default 'onApproval'
   */
  relayCancellations?: 'always' | 'onApproval' | undefined
  /** How sure the chain must be before an order is fulfilled. @default 'safe' */
  fulfilAt?: Exclude<Finality, 'preconfirmed'> | undefined
  /**
   * For chains whose node knows no `safe` or `finalized` block: how many blocks
   * stand for them.
   */
  blocks?: { safe: number; finalized: number } | undefined
  /** Transactions of one account under way at once. @default 16 */
  maxInFlight?: number | undefined
  /** Seconds without progress after which a fee is raised. @default 15 */
  bumpAfter?: number | undefined
  /** Milliseconds a worker holds a submitter or a chain without a sign of life. @default 15_000 */
  lease?: number | undefined
  /**
   * Milliseconds that a local account, or its key service, has to sign one
   * transaction. @default 10_000
   */
  signTimeout?: number | undefined
  /**
   * Milliseconds that the wallet of a JSON-RPC account has to sign and send one
   * transaction. A wallet that is late may still have sent it. @default 120_000
   */
  walletTimeout?: number | undefined
  /** Milliseconds between two looks at a chain. @default as the network shows */
  pollingInterval?: number | undefined
}

/** A fact for metrics and logs; never a signature. */
export type Observation = {
  name: string
  /** Milliseconds, where something took time. */
  duration?: number | undefined
  attributes: Readonly<Record<string, string | number | boolean>>
}

/** What {@link createOrders} takes. */
export type CreateOrdersParameters = {
  store: PaymentStore
  tokens: readonly OrderToken[]
  /**
   * Clients with an account: each sends the captures of payments to itself, and
   * pays their gas.
   */
  wallets: readonly Client[]
  /** Encrypts credentials before they are kept; `'none'` in so many words. */
  seal: Sealer | 'none'
  /** Further recipients, for Transfer payments, which relayers send. */
  recipients?: readonly Address[] | undefined
  /**
   * Accounts of `wallets` that send the captures of all recipients without a
   * wallet, and pay the gas. @default the wallet of a chain with only one
   */
  relayers?: readonly Address[] | undefined
  policy?: OrdersPolicy | undefined
  /** Told of what is done, how long it took, and how it ended. */
  observe?: ((observation: Observation) => void) | undefined
  /**
   * Hashes signatures, buyers' tokens and signed transactions. Such as
   * `countersign/accelerate` loads. @default viem's
   */
  keccak256?: Keccak256 | undefined
}

export const ordersMembers: MembersOf<CreateOrdersParameters> = {
  store: true,
  tokens: true,
  wallets: true,
  seal: true,
  recipients: true,
  relayers: true,
  policy: true,
  observe: true,
  keccak256: true,
}

export type SettledPolicy = {
  [name in keyof OrdersPolicy]-?: name extends
    | 'maxFee'
    | 'blocks'
    | 'pollingInterval'
    ? OrdersPolicy[name]
    : Exclude<OrdersPolicy[name], undefined>
}

/** A wallet with the submitter it sends on. */
export type OrderWallet = {
  client: Client
  account: Account
  submitter: Submitter
}

/** What every part of the orders is handed. */
export type OrdersContext = {
  store: PaymentStore
  /** Loads orders for reading, those of one turn together. */
  loader: OrderLoader
  sealer: Sealer
  policy: SettledPolicy
  tokens: readonly (OrderToken & { chainId: number })[]
  wallets: readonly OrderWallet[]
  /** Submitters of wallets that send for recipients without one. */
  relayers: readonly Submitter[]
  recipients: readonly Address[]
  /** Everything this instance answers for. */
  destinations: readonly Destination[]
  /** Ends what is asked of nodes, where that is possible. */
  signal?: AbortSignal | undefined
  /** Names this instance in leases. */
  owner: string
  /** Ids of the orders for which a payment is being judged in this process. */
  accepting: Set<string>
  observe: (observation: Observation) => void
  keccak256: Keccak256
  /** Unix milliseconds of this machine. */
  now: () => bigint
}

/** An order as it is shown; holds no credential. */
export type Order = Destination & {
  id: string
  state: OrderState
  attempt: number
  nonce: Hex
  payer: Address | undefined
  /** A decimal in whole tokens. */
  amount: string
  /** Token units. */
  value: bigint
  primaryType: PrimaryType
  /** The window offered last, Unix seconds, both ends exclusive. */
  validAfter: bigint
  validBefore: bigint
  /**
   * Until when a signature can still be spent, where one is held: the longest
   * window that was offered counts, whichever of them was accepted.
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
   * Transaction that captures it in the block being made, where the network
   * shows that block. It can still be dropped: nothing is fulfilled by it.
   */
  preconfirmed: Hash | undefined
  capture: SettledCapture | undefined
  cancellation: SettledCancellation | undefined
}

/** What the chain shows of a capture. */
export type SettledCapture = CaptureProof & {
  /** Unix seconds. */
  blockTime: bigint
  /** Wei the transaction cost, where the chain has no fee beside gas. */
  fee: bigint
}

/** What the chain shows of a cancellation. */
export type SettledCancellation = {
  transactionHash: Hash
  blockNumber: bigint
  blockTime: bigint
  finality: Finality
}

/** A payment to sign; without a payer, the one who signs fills in `from`. */
export type DraftedPayment = Omit<Payment, 'message'> & {
  message: Omit<Payment['message'], 'from'> & { from?: Address | undefined }
}

/** A new order, and what its buyer is given. */
export type DraftedOrder = {
  order: Order
  payment: DraftedPayment
  /** What the buyer proves to be the buyer with; kept only as a hash. */
  buyerToken: string
}

/** Why an order takes no payment, besides what is wrong with the payment. */
export type AcceptRefusal =
  /** Not the window that was offered last. */
  | 'wrongWindow'
  | 'exposureTooHigh'
  | 'submitterFunds'
  /** The wallet of its account was removed, and no other may send it. */
  | 'noWallet'
  | 'contractPayer'
  | 'otherPayment'
  | 'tooManyTries'
  | 'acceptInFlight'
  | 'notOpen'

/** Whether a payment is taken for its order, and why not. */
export type AcceptVerdict =
  | { ok: true; order: Order; at: JudgedAt | undefined }
  | {
      ok: false
      reason: RejectionReason | AcceptRefusal
      details: Readonly<Record<string, unknown>>
    }

/** Why a capture is not begun, besides what the token refuses. */
export type CaptureRefusal =
  | 'feeTooHigh'
  | 'notOpen'
  | 'deadlinePassed'
  /** The payer took on code since, and the policy takes no such payers. */
  | 'contractPayer'
  /** An older payment can be spent again: a reorg undid its cancellation. */
  | 'otherPayment'
  /** What is kept of the signature does not open. */
  | 'sealBroken'

/** What became of a capture. */
export type CaptureResult =
  | { status: 'captured'; order: Order; proof: SettledCapture }
  | {
      status: 'rejected'
      order: Order
      reason: OrderReason | CaptureRefusal | 'canceled'
    }
  /** Not decided yet; what will decide it, and when at the latest. */
  | {
      status: 'unknown'
      order: Order
      resolvedBy: 'worker' | 'chain' | 'window'
      until: bigint
    }

/** Whether an order is given up, and until when it can still be paid. */
export type VoidVerdict =
  | { ok: true; order: Order; spendableUntil: bigint | undefined }
  | { ok: false; reason: 'captureInFlight' | 'notOpen'; order: Order }

/** Whether a cancellation is taken, and who sends it. */
export type CancelVerdict =
  | { ok: true; order: Order }
  /** Voided, and not sent by us: the buyer can send this call. */
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

/** The payment to be signed once more, or why there is none. */
export type ReauthorizeVerdict =
  | { ok: true; order: Order; payment: DraftedPayment }
  | { ok: false; reason: 'notOpen'; order: Order }

/** The cancellation for the buyer to sign, or why there is none. */
export type CancellationRequest =
  | { ok: true; order: Order; cancellation: Cancellation }
  | { ok: false; reason: 'notOpen'; order: Order }
