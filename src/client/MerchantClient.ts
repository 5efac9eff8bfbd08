import type { Address, Hash, Hex } from 'viem'
import type { Answers, WireOrderEvent } from '../http/schemas/answerTypes.js'
import type { DraftBody, RefundBody } from '../http/schemas/bodySchemas.js'
import type { LedgerFormat } from '../http/schemas/querySchemas.js'
import type { AbortOptions } from './BuyerClient.js'
import type { FollowParameters } from './followStream.js'

/** An order as its merchant sees it. Integers are decimal strings. */
export type MerchantOrder = Answers['Order']

/** A refund. Integers are decimal strings. */
type MerchantRefund = Answers['Refund']

/** An event as `orders.events` returns it. Integers are decimal strings. */
export type MerchantEvent = WireOrderEvent

/**
 * The result of comparing the stored orders with the chain. Integers are
 * decimal strings.
 */
export type Audit = Answers['AuditReport']

/** Parameters of the methods for one order. */
export type OrderParameters = AbortOptions & { orderId: string }

/** Parameters of the methods for one refund. */
export type RefundParameters = OrderParameters & { refundId: string }

/** Parameters of the merchant's `draft`. */
type DraftParameters = AbortOptions &
  Omit<DraftBody, 'window'> & {
    /**
     * Id of the order, so that a repeated request does not create a second
     * order.
     * @default 32 random bytes, drawn before the first try
     */
    idempotencyKey?: string | undefined
    /**
     * Seconds from now until the payment expires.
     * @default the shop's own setting
     */
    window?: bigint | undefined
  }

/** Parameters of the merchant's `list`. */
export type ListParameters = AbortOptions & {
  states?: readonly MerchantOrder['state'][] | undefined
  payer?: Address | undefined
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  /**
   * Hash of a transaction: yields only the orders that it captured, canceled or
   * refunded.
   */
  transaction?: Hash | undefined
  /** The `cursor` of a page. The list begins after that page. */
  before?: string | undefined
  /** Most orders on a page, at most 200. */
  limit?: number | undefined
}

/** Parameters of the merchant's `capture`. */
type CaptureParameters = OrderParameters & {
  /**
   * For an order with a ceiling: the amount to capture, such as `'42.10'`, in
   * whole tokens.
   */
  amount?: string | undefined
  /**
   * Seconds for which the server waits for the outcome, at most 25. With 0 it
   * answers at once.
   * @default 0
   */
  wait?: number | undefined
  /**
   * When the server answers. `included`: once a block contains the capture.
   * `preconfirmed`: once the pending block shows the capture, although the
   * finished block may not contain it.
   * @default 'included'
   */
  answerAt?: 'preconfirmed' | 'included' | undefined
  /**
   * Required with `preconfirmed`: the largest payment for which the server may
   * answer so early, in whole tokens.
   */
  preconfirmedUpTo?: string | undefined
}

/** Parameters of the merchant's `reauthorize`. */
type ReauthorizeParameters = OrderParameters & {
  /**
   * Seconds from now until the new payment expires.
   * @default the shop's own setting
   */
  window?: bigint | undefined
}

/** Parameters of the merchant's `refund`. */
type RequestRefundParameters = OrderParameters & RefundBody

/** Parameters of `refundToSign`. */
type RefundPaymentParameters = RefundParameters & {
  /**
   * Seconds from now until the refund's payment expires.
   * @default the longest that the server allows
   */
  window?: bigint | undefined
}

/** Parameters of `acceptRefund`. */
type RefundSignatureParameters = RefundParameters & { signature: Hex }

/** Parameters of the merchant's `reconcile`. */
type ReconcileOptions = AbortOptions & {
  /**
   * First block to compare.
   * @default where the last reconciliation ended
   */
  fromBlock?: bigint | undefined
}

/** Progress of an audit, as `onProgress` gets it. */
type AuditProgress = {
  /** The range of blocks that was compared last, both ends included. */
  fromBlock: bigint
  toBlock: bigint
  /** The last block that the audit compares. */
  lastBlock: bigint
}

/** Parameters of the merchant's `audit`. */
export type AuditOptions = AbortOptions & {
  /**
   * First block to compare, such as that of your first order. Without it, one
   * request compares all blocks since your oldest order, and the server ends a
   * request after 30 seconds.
   * @default the block of the oldest order
   */
  fromBlock?: bigint | undefined
  /**
   * Last block to compare.
   * @default the newest block; with several chains, the largest of their newest
   * block numbers
   */
  toBlock?: bigint | undefined
  /**
   * Number of blocks in the first request. Later requests have fewer if the
   * server needs too long.
   * @default 10_000n
   */
  blocks?: bigint | undefined
  /** Called each time after a range of blocks was compared. */
  onProgress?: ((progress: AuditProgress) => void) | undefined
}

/** Parameters of the merchant's `ledger`. */
export type LedgerOptions = AbortOptions & {
  /**
   * Format of the file.
   * @default 'csv'
   */
  format?: LedgerFormat | undefined
  /** Unix seconds. Earlier bookings are left out. */
  from?: bigint | undefined
  to?: bigint | undefined
  /**
   * True to add every transfer found on the chain.
   * @default false
   */
  transfers?: boolean | undefined
}

/** Parameters of the merchant's `follow`. */
export type FollowOrdersParameters = Omit<
  FollowParameters,
  'after' | 'onOpen'
> & {
  /** Yields only the events of this order. */
  orderId?: string | undefined
  /**
   * The `cursor` of the last event that you have, or `'0'` for all events.
   * @default only events from now on
   */
  after?: string | undefined
  /**
   * Called each time the stream opens, with the cursor after which it begins.
   * If you load the list of orders after this call, the list and the events of
   * the stream together miss nothing.
   */
  onOpen?: ((cursor: string) => void) | undefined
}

/**
 * All that a merchant can do over HTTP, with the orders of its recipients.
 *
 * Requests are retried after transient failures, up to `retries` times. Only
 * `reauthorize` and `resume` are not: a second try has an effect of its own. Each method rejects with
 * a `ProblemError` if the server refuses, with a `ServerError` if it gives no
 * answer, and with the signal's reason if that aborts.
 */
export interface MerchantClient {
  /**
   * Drafts an order, once for each `idempotencyKey`. Retried after transient
   * failures, with the same key. Tries never overlap, because each makes the
   * `buyerToken` of the one before invalid. So after a lost answer the next try
   * begins 30 seconds after the last one began.
   *
   * Repeating a key returns the same order with a new `buyerToken`. The earlier
   * token becomes invalid.
   *
   * @throws {@link ProblemError} when the server refuses it: `orderIdInUse` if
   * the key belongs to an order with other contents, or the buyer has already
   * signed.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws {@link InvalidFieldError} when no header can contain
   * `idempotencyKey`.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const sell = (merchant: MerchantClient, cart: string) =>
   *   merchant.draft({ idempotencyKey: cart, amount: '12.50' })
   * ```
   */
  draft(parameters: DraftParameters): Promise<Answers['DraftedOrder']>

  /**
   * Yields orders page by page, the newest first. Each page is retried after
   * transient failures.
   *
   * @throws {@link ProblemError}
   * @throws {@link ServerError} when the server gives no answer, or a cursor
   * for the second time.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export async function openIds(merchant: MerchantClient) {
   *   const ids: string[] = []
   *   for await (const { orders } of merchant.list({ states: ['stored'] }))
   *     ids.push(...orders.map(({ id }) => id))
   *   return ids
   * }
   * ```
   */
  list(parameters?: ListParameters): AsyncGenerator<Answers['OrderList'], void>

  /**
   * Reads an order. Retried after transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const stateOf = async (merchant: MerchantClient, orderId: string) =>
   *   (await merchant.get({ orderId })).state
   * ```
   */
  get(parameters: OrderParameters): Promise<MerchantOrder>

  /**
   * Captures an order, once, however often it is repeated. Retried after
   * transient failures.
   *
   * The status `unknown` is not a failure: the outcome is decided later, by a
   * worker or on the chain.
   *
   * @throws {@link ProblemError} with the reason why nothing is captured.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export async function capture(merchant: MerchantClient, orderId: string) {
   *   const result = await merchant.capture({ orderId, wait: 20 })
   *   return result.status === 'captured' && result.proof.transactionHash
   * }
   * ```
   */
  capture(
    parameters: CaptureParameters,
  ): Promise<Answers['Captured'] | Answers['CaptureUnknown']>

  /**
   * Voids an order: the shop no longer captures it. Retried after transient
   * failures. The payer's signature stays valid: a person who has it can submit
   * it until `spendableUntil`.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const giveUp = (merchant: MerchantClient, orderId: string) =>
   *   merchant.void({ orderId })
   * ```
   */
  void(parameters: OrderParameters): Promise<Answers['Voided']>

  /**
   * Asks the buyer again, with a new window. Never retried: each request opens
   * another window, and only a signature of the last window is accepted.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const askAgain = (merchant: MerchantClient, orderId: string) =>
   *   merchant.reauthorize({ orderId, window: 900n })
   * ```
   */
  reauthorize(
    parameters: ReauthorizeParameters,
  ): Promise<Answers['Reauthorized']>

  /**
   * Lets the shop send the cancellation that the buyer signed. Retried after
   * transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const approve = (merchant: MerchantClient, orderId: string) =>
   *   merchant.approveCancellation({ orderId })
   * ```
   */
  approveCancellation(
    parameters: OrderParameters,
  ): Promise<Answers['CancellationApproved']>

  /**
   * Requests a refund, once for each `refundId`. Retried after transient
   * failures. When the call resolves, the money has not moved yet.
   *
   * @throws {@link ProblemError} when the server refuses it: `refundForbidden`
   * without the permission.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const refund = (merchant: MerchantClient, orderId: string) =>
   *   merchant.refund({ orderId, refundId: 'return-7', amount: '2.50' })
   * ```
   */
  refund(parameters: RequestRefundParameters): Promise<Answers['RefundTaken']>

  /**
   * Lists the refunds of an order, the oldest first. Retried after transient
   * failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const left = async (merchant: MerchantClient, orderId: string) =>
   *   (await merchant.listRefunds({ orderId })).refundable
   * ```
   */
  listRefunds(parameters: OrderParameters): Promise<Answers['RefundList']>

  /**
   * Reads a refund. Retried after transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const isBack = async (merchant: MerchantClient, orderId: string) =>
   *   (await merchant.getRefund({ orderId, refundId: 'return-7' })).state ===
   *   'succeeded'
   * ```
   */
  getRefund(parameters: RefundParameters): Promise<MerchantRefund>

  /**
   * Returns the payment of a refund to sign, for a recipient whose wallet is
   * not on the server. Retried after transient failures. Until the window is
   * over, the payment stays the same.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const toSign = (merchant: MerchantClient, orderId: string) =>
   *   merchant.refundToSign({ orderId, refundId: 'return-7' })
   * ```
   */
  refundToSign(
    parameters: RefundPaymentParameters,
  ): Promise<Answers['RefundToSign']>

  /**
   * Sends the signature of a refund to the server. Retried after transient
   * failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const send = (
   *   merchant: MerchantClient,
   *   orderId: string,
   *   signature: `0x${string}`,
   * ) => merchant.acceptRefund({ orderId, refundId: 'return-7', signature })
   * ```
   */
  acceptRefund(
    parameters: RefundSignatureParameters,
  ): Promise<Answers['RefundSigned']>

  /**
   * Compares the stored orders with the chain, and stores what is missing.
   * Retried after transient failures. The server ends it after 30 seconds: for
   * a long range call `orders.reconcile`.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const daily = (merchant: MerchantClient) => merchant.reconcile()
   * ```
   */
  reconcile(
    parameters?: ReconcileOptions,
  ): Promise<Answers['ReconciliationReport']>

  /**
   * Compares the stored orders with the chain, and changes nothing. Requests
   * one range of blocks after the other, and narrower ones if the server's 30
   * seconds are not enough. Adds the reports up. Each range is retried after
   * transient failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const audit = (merchant: MerchantClient, fromBlock: bigint) =>
   *   merchant.audit({
   *     fromBlock,
   *     onProgress: ({ toBlock, lastBlock }) =>
   *       console.log(`block ${toBlock} of ${lastBlock}`),
   *   })
   * ```
   */
  audit(parameters?: AuditOptions): Promise<Audit>

  /**
   * Opens the merchant's ledger, a file of all bookings, as a stream. Opening
   * is retried after transient failures; reading is not. If the connection
   * breaks before the end of the file, the stream errors.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const books = async (merchant: MerchantClient) =>
   *   new Response(await merchant.ledger({ transfers: true })).text()
   * ```
   */
  ledger(parameters?: LedgerOptions): Promise<ReadableStream<Uint8Array>>

  /**
   * Returns the health of orders, accounts and chains. Retried after transient
   * failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const faults = async (merchant: MerchantClient) =>
   *   (await merchant.health()).chains.map(({ fault }) => fault)
   * ```
   */
  health(parameters?: AbortOptions): Promise<Answers['Health']>

  /**
   * Yields every event of your orders, or of one. Opens the stream again
   * whenever it breaks, and goes on after the last event. It never ends by
   * itself.
   *
   * An event can come twice, with the same `cursor`.
   *
   * @throws {@link ProblemError} `cursorAhead` if the server's database is
   * another one than before, such as a restored backup.
   * @throws {@link ServerError} when the answer is not from `countersign/http`,
   * for example an event without JSON or of more than a million characters.
   * @throws {@link InvalidFieldError} when no header can contain `after`.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export async function ship(merchant: MerchantClient, after: string) {
   *   for await (const event of merchant.follow({ after }))
   *     if (event.type === 'fulfil') console.log(event.data.fulfilmentId)
   * }
   * ```
   */
  follow(
    parameters?: FollowOrdersParameters,
  ): AsyncGenerator<MerchantEvent, void>

  /**
   * Stops sending transactions, for every shop on the database. Retried after
   * transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it:
   * `operationForbidden` without the permission.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const stopEverything = (merchant: MerchantClient) => merchant.suspend()
   * ```
   */
  suspend(parameters?: AbortOptions): Promise<Answers['Sending']>

  /**
   * Lets workers send transactions again, for every shop on the database. After
   * you restored a database, call it only once `reconcile` has written what the
   * backup missed. Never retried: a second try would undo a `suspend` that came
   * in between. After a lost answer, read `health` first.
   *
   * @throws {@link ProblemError} when the server refuses it:
   * `operationForbidden` without the permission.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export async function goOn(merchant: MerchantClient) {
   *   await merchant.reconcile()
   *   await merchant.resume()
   * }
   * ```
   */
  resume(parameters?: AbortOptions): Promise<Answers['Sending']>

  /**
   * Encrypts stored secrets again, with the current key of the sealer. Retried
   * after transient failures: each try continues where the last one ended,
   * because the server ends a request after 30 seconds.
   *
   * @throws {@link ProblemError} when the server refuses it:
   * `operationForbidden` without the permission.
   * @throws {@link ServerError} when the server gives no answer.
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export async function rotate(merchant: MerchantClient) {
   *   const { left } = await merchant.reseal()
   *   return left === 0
   * }
   * ```
   */
  reseal(parameters?: AbortOptions): Promise<Answers['ResealReport']>

  /**
   * Returns the OpenAPI document of the server. Retried after transient
   * failures.
   *
   * @throws {@link ProblemError} {@link ServerError}
   *
   * @example
   * ```ts
   * import type { MerchantClient } from 'countersign/client'
   *
   * export const document = (merchant: MerchantClient) => merchant.openApi()
   * ```
   */
  openApi(parameters?: AbortOptions): Promise<Record<string, unknown>>
}
