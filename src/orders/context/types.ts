import type { Account, Address, Client, Hex } from 'viem'
import type { TrustedDelegate } from '../../batches/delegates/types.js'
import type { Permission } from '../../batches/keys/permission.js'
import type { Keccak256 } from '../../core/keccak.js'
import type { Observation } from '../../core/observeFailure.js'
import type { SignedPayment } from '../../core/types.js'
import type { AnyKind } from '../../payments/kind.js'
import type {
  Destination,
  Lease,
  PaymentStore,
  Sealer,
  Submitter,
} from '../../store/types.js'
import type { OrderKinds } from '../model/kindOf.js'
import type {
  OrderLoader,
  RefundRow,
  StoredRefund,
} from '../model/storedOrder.js'
import type { OrdersPolicy, SettledPolicy, Shop } from '../model/types.js'

/** A token that you accept as payment, and a client of its chain. */
export type OrderToken = { client: Client; token: Address }

/** Parameters of {@link createOrders}. */
export type CreateOrdersParameters = {
  store: PaymentStore
  /**
   * Name of the shop in the store: a letter, then up to 62 letters, digits and
   * hyphens. All processes of the shop give the same name. The store keeps the
   * shop's recipients, so that `changeRecipients` can change them while workers
   * run.
   * @default none: the recipients are those given here
   */
  shop?: string | undefined
  tokens: readonly OrderToken[]
  /**
   * Clients with an account. Each account sends the captures of payments of
   * which it is the recipient, and pays their gas. With a permission, it sends
   * those of another recipient.
   */
  wallets: readonly (Client | CaptureWallet)[]
  /**
   * Encrypts signatures and other credentials before they are stored. Pass
   * `'none'` to store them unencrypted.
   */
  seal: Sealer | 'none'
  /**
   * Recipients without a wallet here. They can get only
   * `TransferWithAuthorization` payments, whose captures the relayers send.
   */
  recipients?: readonly Address[] | undefined
  /**
   * Accounts of `wallets` that send the captures for all recipients without a
   * wallet, and pay the gas.
   * @default on a chain with a single wallet, that wallet
   */
  relayers?: readonly Address[] | undefined
  /**
   * Delegates (EIP-7702) that you trust beside those that this library knows:
   * an account that delegates to one captures payments together.
   */
  delegates?: readonly TrustedDelegate[] | undefined
  policy?: OrdersPolicy | undefined
  /**
   * Called after each method and each task of a worker, with its name, duration
   * and outcome.
   */
  observe?: ((observation: Observation) => void) | undefined
  /**
   * Hash function for signatures, buyers' tokens and signed transactions.
   * `countersign/accelerate` loads a fast one. @default viem's
   */
  keccak256?: Keccak256 | undefined
  /**
   * Kinds of payments besides EIP-3009, such as `checkout`. An order that is
   * drafted with `atMost` uses the first kind that its token supports.
   */
  kinds?: readonly AnyKind[] | undefined
}

/**
 * The wallet of a capture key: an account that captures payments to another, the
 * treasury, with a permission that the treasury signed. It takes no payments with
 * a ceiling and signs no refunds.
 */
export type CaptureWallet = {
  /** A client with the account of the key. */
  client: Client
  /** The treasury: the recipient of the payments. */
  capturesFor: Address
  /** What `createCaptureKey` of `countersign/batches` returned. */
  permission: Hex
}

export type OrderWallet = {
  client: Client
  account: Account
  submitter: Submitter
  /** Set if the account captures for another, the treasury. */
  key?: Permission | undefined
}

/** A payment whose simulated capture succeeded. */
export type RehearsedPayment = {
  payment: SignedPayment
  signatureHash: Hex | undefined
  /** The block of the simulation; time in Unix seconds. */
  head: { number: bigint; timestamp: bigint }
  /** Gas limit of the payment's capture. */
  gas: bigint
  /** True when the simulation also refused payers that are contracts. */
  refusesContracts: boolean
}

/**
 * Memory of payments that were just accepted. Until a new block comes, their
 * capture need not be simulated again, because the chain's state is the same.
 */
export type RehearsalMemory = {
  remember(orderId: string, rehearsed: RehearsedPayment): void
  /** Returns the simulation of an order's payment, and forgets it. */
  take(orderId: string): RehearsedPayment | undefined
}

/**
 * Has the recipients' wallets sign refunds. The watcher of a chain decides
 * which refunds to sign and when; it signs nothing itself.
 */
export type RefundSigner = {
  /** Ids of refunds whose signatures are being encrypted and stored. */
  storing: ReadonlySet<string>
  /**
   * Starts signing the refunds whose wallet is free. Resolves when their
   * signatures are stored, or after one second: a signer may hang, and a person
   * may take minutes to sign.
   */
  sign(
    refunds: readonly RefundRow[],
    by: {
      /** The lease under which the signatures are stored. */
      lease: Lease | undefined
      /**
       * Stores the nonce and window of a refund just before it is signed.
       * Resolves to `undefined` if it cannot be signed now.
       */
      prepare(refund: RefundRow): Promise<StoredRefund | undefined>
      /** Makes a refund wait for its next try. */
      put(id: string, error: unknown, at: { destination: Destination }): void
      /** Removes the failure of a refund that is signed. */
      clear(id: string): void
    },
  ): Promise<void>
}

/**
 * What every function of the orders needs: store, chain clients and settings.
 */
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
  /**
   * Accounts of `wallets` that send captures for recipients without a wallet.
   */
  relayers: readonly Submitter[]
  /** Delegates that are trusted beside the known ones. */
  delegates: readonly TrustedDelegate[]
  shop: Shop
  /**
   * Read from `shop` at each use, like `policy` and `destinations`: do not keep
   * a copy.
   */
  recipients: readonly Address[]
  destinations: readonly Destination[]
  /**
   * Name of the lease for watching each chain, by chain id: see `nameWatches`.
   */
  watches: ReadonlyMap<number, string>
  /** Aborts requests to nodes, where the transport supports it. */
  signal?: AbortSignal | undefined
  /** Random name of this instance, by which it holds leases. */
  owner: string
  /**
   * Payments that this process has just accepted, with their simulated
   * captures.
   */
  rehearsals: RehearsalMemory
  /** Ids of orders of which this process is verifying a payment now. */
  accepting: Set<string>
  observe: (observation: Observation) => void
  keccak256: Keccak256
  /** Current time in Unix milliseconds, by this machine's clock. */
  now: () => bigint
}
