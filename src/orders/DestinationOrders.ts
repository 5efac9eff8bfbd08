import type { LedgerParameters, LedgerRow } from './ledger/types.js'
import type { Refund } from './model/refundTypes.js'
import type {
  AcceptRefundVerdict,
  RefundToSignVerdict,
  RefundVerdict,
} from './model/refundVerdicts.js'
import type {
  AcceptVerdict,
  AnyDraftedPayment,
  CancellationToSignVerdict,
  CancellationVerdict,
  CaptureResult,
  DraftedOrder,
  Order,
  ReauthorizeVerdict,
  VoidVerdict,
} from './model/types.js'
import type { AcceptCancellationParameters } from './verbs/acceptCancellation.js'
import type { AcceptPaymentParameters } from './verbs/acceptPayment.js'
import type { AcceptRefundParameters } from './verbs/acceptRefund.js'
import type { ApproveCancellationParameters } from './verbs/approveCancellation.js'
import type { AuditParameters, AuditReport } from './verbs/auditOrders.js'
import type { CancellationToSignParameters } from './verbs/cancellationToSign.js'
import type { CaptureOrderParameters } from './verbs/captureOrder.js'
import type {
  DraftOrderParameters,
  ExactDraftParameters,
} from './verbs/draftFacts.js'
import type {
  GetForBuyerParameters,
  OrderForBuyer,
} from './verbs/getForBuyer.js'
import type { OrdersHealth } from './verbs/getHealth.js'
import type { GetOrderParameters } from './verbs/getOrder.js'
import type { GetRefundParameters } from './verbs/getRefund.js'
import type { ListEventsParameters, ListedEvents } from './verbs/listEvents.js'
import type { ListedOrders, ListOrdersParameters } from './verbs/listOrders.js'
import type { ReauthorizeOrderParameters } from './verbs/reauthorizeOrder.js'
import type { RefundOrderParameters } from './verbs/refundOrder.js'
import type { RefundToSignParameters } from './verbs/refundToSign.js'
import type { VoidOrderParameters } from './verbs/voidOrder.js'
import type {
  ReconcileParameters,
  ReconciliationReport,
} from './watcher/reconcile.js'

/**
 * The orders of some recipients. Orders of other recipients do not exist for
 * these methods.
 *
 * Every method throws {@link StoreError} when the store cannot be used.
 * `draft`, `accept`, `reauthorize`, `capture` and the cancellation methods
 * throw {@link OrdersSetupError} when a stored secret needs a sealing key that
 * is missing.
 */
export interface DestinationOrders {
  /**
   * Creates an order with its price, recipient and window, and returns the
   * payment for the buyer's browser to sign.
   *
   * Until somebody pays, the same id with the same contents returns the same
   * order and payment again, with a new `buyerToken`; the previous token stops
   * working. This does not extend a window that has ended: only `reauthorize`
   * does. The id of an `expired` order cannot be used for another order.
   *
   * Drafting reserves no funds and does not check the buyer's balance.
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a field
   * is malformed, or the id belongs to another order.
   * @throws {@link UnsupportedTokenError} {@link DomainMismatchError} when the
   * token cannot settle the payment.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const sell = (orders: Orders, orderId: string) =>
   *   orders.draft({ orderId, amount: '12.50', metadata: { cart: 7 } })
   * ```
   */
  draft(parameters: ExactDraftParameters): Promise<DraftedOrder>
  /**
   * Creates an order with a ceiling (`atMost`), or with an exact amount. The
   * payer signs the ceiling, and `capture` later names the amount to take. The
   * payment names who is paid and who can capture it (`payment.checkout`).
   *
   * Drafting reserves no funds and does not check the buyer's balance.
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a field
   * is malformed, `payer` is missing, no kind in `kinds` has ceilings, or the
   * id belongs to another order.
   * @throws {@link UnsupportedTokenError} {@link DomainMismatchError} when the
   * token cannot settle the payment.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Address } from 'viem'
   *
   * export const openTab = (orders: Orders, payer: Address) =>
   *   orders.draft({ atMost: '50.00', payer })
   * ```
   */
  draft(
    parameters: DraftOrderParameters,
  ): Promise<DraftedOrder<AnyDraftedPayment>>

  /**
   * Compares a signed payment with the draft, simulates its capture with
   * `eth_call` and stores it. Idempotent: the same signature gets the same
   * answer. Sends the node one HTTP request if the client batches its calls.
   *
   * Accepting moves no tokens and reserves none on chain: the payer can still
   * spend the funds before the capture.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the payment is malformed or not
   * signed.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function takePayment(orders: Orders, orderId: string, json: string) {
   *   const verdict = await orders.accept({ orderId, payment: json })
   *   return verdict.ok ? verdict.order.state : verdict.reason
   * }
   * ```
   */
  accept(parameters: AcceptPaymentParameters): Promise<AcceptVerdict>

  /**
   * Returns the payment of an order to sign again, with a new window. The
   * payment keeps its nonce, so that at most one of the signatures can be
   * captured. It gets a new nonce only if the last signature can never be
   * captured, because it was canceled, or expired in a finalized block.
   *
   * Until you accept a new signature, `capture` uses the stored one, which
   * stays valid until its own window ends.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the window is malformed or too long.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const askAgain = (orders: Orders, orderId: string) =>
   *   orders.reauthorize({ orderId, window: 1800n })
   * ```
   */
  reauthorize(
    parameters: ReauthorizeOrderParameters,
  ): Promise<ReauthorizeVerdict>

  /**
   * Captures an order exactly once and waits for the result on chain. While the
   * capture is in flight, or once it is decided, a second call gets the result
   * of the first. A rejected order that is still open may be captured again.
   *
   * For an order with a ceiling, the first `amount` that you name is stored
   * before anything is signed, and stays for this payment: another amount is
   * rejected with `otherAmount`.
   *
   * The status `unknown` is no failure: the request is stored, and `run` or
   * another call continues it. A reorg can still undo a capture: ship the goods
   * on the order's `fulfil` event.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a
   * parameter is malformed, or an order with a ceiling has no amount yet.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function charge(orders: Orders, orderId: string) {
   *   const result = await orders.capture({ orderId, timeout: 30_000 })
   *   return result.status
   * }
   * ```
   */
  capture(parameters: CaptureOrderParameters): Promise<CaptureResult>

  /**
   * Gives up an order: we never start a capture of it again.
   *
   * The buyer's signature stays valid: until `spendableUntil` anyone who holds
   * a `TransferWithAuthorization` payment can submit it. Only a cancellation on
   * chain ends it sooner.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function giveUp(orders: Orders, orderId: string) {
   *   const verdict = await orders.void({ orderId })
   *   return verdict.ok ? verdict.spendableUntil : verdict.reason
   * }
   * ```
   */
  void(parameters: VoidOrderParameters): Promise<VoidVerdict>

  /**
   * Returns the cancellation of an order for its buyer to sign.
   *
   * This call changes nothing. The signature has no effect either until you
   * pass it to `acceptCancellation`.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const cancellationOf = (orders: Orders, orderId: string) =>
   *   orders.cancellationToSign({ orderId })
   * ```
   */
  cancellationToSign(
    parameters: CancellationToSignParameters,
  ): Promise<CancellationToSignVerdict>

  /**
   * Accepts a buyer's signed cancellation. We start no capture of the order any
   * more. `policy.relayCancellations` decides whether we send the cancellation;
   * otherwise the result contains `call`, which anyone can send.
   *
   * The order becomes `canceled` only when the chain shows the cancellation: a
   * capture in flight can still come first, and a cancellation that nobody
   * sends has no effect.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the cancellation is malformed or not
   * signed.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { SignedCancellation } from 'countersign'
   *
   * export const keep = (
   *   orders: Orders,
   *   orderId: string,
   *   cancellation: SignedCancellation,
   * ) => orders.acceptCancellation({ orderId, cancellation })
   * ```
   */
  acceptCancellation(
    parameters: AcceptCancellationParameters,
  ): Promise<CancellationVerdict>

  /**
   * Sends the cancellation that `acceptCancellation` stored. Your account pays
   * its gas. The verdict is `notOpen` if no cancellation is stored.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const send = (orders: Orders, orderId: string) =>
   *   orders.approveCancellation({ orderId })
   * ```
   */
  approveCancellation(
    parameters: ApproveCancellationParameters,
  ): Promise<CancellationVerdict>

  /**
   * Compares the store with the chain and adds what the store lacks: payments
   * and cancellations that others submitted, payments of orders that you
   * voided, and payments without an order. A second run changes nothing.
   *
   * Until a payment is in a final block, a reorg can undo it.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link OrdersSetupError} when the destination does not belong to
   * this instance.
   * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError}
   * when a node refuses, does not answer, or its answers are not of one chain.
   * Entries it wrote by then are correct; the next run reads the rest again.
   * @throws {@link ProofConflictError} when an order's payment is stored as
   * that of another order. All other orders of its destination are written
   * before.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const catchUp = (orders: Orders) =>
   *   orders.reconcile({ signal: AbortSignal.timeout(60_000) })
   * ```
   */
  reconcile(parameters?: ReconcileParameters): Promise<ReconciliationReport>

  /**
   * Returns an order from the store. Asks no node.
   *
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const stateOf = async (orders: Orders, orderId: string) =>
   *   (await orders.get({ orderId })).state
   * ```
   */
  get(parameters: GetOrderParameters): Promise<Order>

  /**
   * Returns an order and the payment to sign, to a buyer who has the order's
   * token from `draft`. Asks no node.
   *
   * The token only identifies the buyer: nobody can pay or move funds with it.
   * @throws {@link OrderNotFoundError} when there is no such order, or the
   * token belongs to another order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const showBuyer = (orders: Orders, orderId: string, buyerToken: string) =>
   *   orders.getForBuyer({ orderId, buyerToken })
   * ```
   */
  getForBuyer(parameters: GetForBuyerParameters): Promise<OrderForBuyer>

  /**
   * Lists orders from the store, the newest first. Asks no node.
   *
   * @throws {@link InvalidFieldError} when a filter is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const unpaid = (orders: Orders) =>
   *   orders.list({ states: ['drafted'], limit: 20 })
   * ```
   */
  list(parameters?: ListOrdersParameters): Promise<ListedOrders>

  /**
   * Lists the events after a cursor, in the same order for all readers.
   *
   * Each event is delivered at least once: if you lose your cursor, you get
   * events again. Recognize repeated ones by the `cursor` of each event.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link CursorAheadError} when the cursor is ahead of all events: it
   * is from another database, for example from before a backup was restored.
   * @throws {@link OrderNotFoundError} when there is no order of `orderId`.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function shipped(orders: Orders, after: bigint) {
   *   const { events, cursor } = await orders.events({ after })
   *   return { cursor, ship: events.filter(({ type }) => type === 'fulfil') }
   * }
   * ```
   */
  events(parameters?: ListEventsParameters): Promise<ListedEvents>

  /**
   * Requests a refund of a captured order to the account that paid it. The same
   * `refundId` again returns the same refund; a refund that failed permanently
   * is tried again. `order.refundable` is the amount that can still be refunded
   * of the payment that settled the order.
   *
   * Moves no tokens yet: `run` signs and sends the refund once the block of the
   * capture is final and earlier refunds of the payment are over. The refunds
   * of a payment, paid or requested, never add up to more than its captured
   * amount.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} {@link InvalidAmountError} when a
   * parameter is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function payBack(orders: Orders, orderId: string) {
   *   const verdict = await orders.refund({
   *     orderId,
   *     refundId: 'return-7',
   *     amount: '2.50',
   *     reason: 'requestedByCustomer',
   *   })
   *   return verdict.ok ? verdict.refund.state : verdict.reason
   * }
   * ```
   */
  refund(parameters: RefundOrderParameters): Promise<RefundVerdict>

  /**
   * Returns the payment of a refund to sign elsewhere, for a recipient whose
   * wallet is not among `wallets`. Returns the same payment until its window
   * has ended.
   *
   * No tokens move before you pass the signature to `acceptRefund`. Protect the
   * signature like the tokens themselves: anyone who has it can submit it.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link RefundNotFoundError} when the order has no such refund.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function paymentToSign(orders: Orders, orderId: string) {
   *   const verdict = await orders.refundToSign({ orderId, refundId: 'return-7' })
   *   return verdict.ok ? verdict.payment : verdict.reason
   * }
   * ```
   */
  refundToSign(parameters: RefundToSignParameters): Promise<RefundToSignVerdict>

  /**
   * Asks the token whether the signature of a refund is valid, and stores the
   * signature. Idempotent: the same signature gets the same answer.
   *
   * Moves no tokens yet: `run` sends the refund from any account that sends
   * transactions for the recipient.
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link RefundNotFoundError} when the order has no such refund.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Hex } from 'viem'
   *
   * export const takeSignature = (orders: Orders, orderId: string, signature: Hex) =>
   *   orders.acceptRefund({ orderId, refundId: 'return-7', signature })
   * ```
   */
  acceptRefund(parameters: AcceptRefundParameters): Promise<AcceptRefundVerdict>

  /**
   * Returns a refund from the store. Asks no node.
   *
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link RefundNotFoundError} when the order has no such refund.
   * @throws {@link InvalidFieldError} when an id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const stateOfRefund = async (orders: Orders, orderId: string) =>
   *   (await orders.getRefund({ orderId, refundId: 'return-7' })).state
   * ```
   */
  getRefund(parameters: GetRefundParameters): Promise<Refund>

  /**
   * Reports the current state: orders by state, submitters with their gas and
   * which worker serves them, how far each destination is reconciled, and how
   * many secrets each sealing key sealed. Includes a submitter whose wallet was
   * removed if orders still wait for it. Contains no credential.
   *
   * A node that does not answer within 5 seconds appears in the report; it
   * causes no error.
   * @throws {@link StoreError} when the database does not answer or is closed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const faults = async (orders: Orders) =>
   *   (await orders.health()).chains.flatMap(({ fault }) => fault ?? [])
   * ```
   */
  health(): Promise<OrdersHealth>

  /**
   * Compares the payments that reached the recipients on chain with the store,
   * exact to the token's smallest unit, and lists every difference. Changes
   * nothing; `reconcile` updates the store.
   *
   * Without a range, compares the blocks from the oldest order to the newest
   * block. A payment that arrived since the last reconciliation is a difference
   * too: call `reconcile` first for the exact answer. Transfers of 0 are not
   * counted, on chain or in the store.
   * @throws {@link InvalidFieldError} when a block is malformed.
   * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError}
   * when a node refuses, or does not answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function booksAgree(orders: Orders) {
   *   await orders.reconcile()
   *   return (await orders.audit()).ok
   * }
   * ```
   */
  audit(parameters?: AuditParameters): Promise<AuditReport>

  /**
   * Yields the accounting entries of a time range, in the order of the chain:
   * payments of orders, gas that our submitters paid, and transfers without an
   * order. Loads them page by page while you iterate.
   *
   * Returns what is stored: call `reconcile` first. Without `transfers`, asks
   * nodes only about transactions that left no proof of payment, such as
   * reverted ones, and leaves out transfers that a recipient sent. With
   * `transfers`, the rows of each recipient add up exactly to its `balanceOf`,
   * or the iteration ends with an error.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError}
   * when a node refuses, does not answer, has no state of a block of the past,
   * or its answers are not of one chain. Then the rows so far are not complete.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import { type Orders, toCsv } from 'countersign/orders'
   *
   * export async function printBooks(orders: Orders, from: bigint, to: bigint) {
   *   for await (const line of toCsv(orders.ledger({ from, to })))
   *     process.stdout.write(line)
   * }
   * ```
   */
  ledger(parameters?: LedgerParameters): AsyncIterableIterator<LedgerRow>
}
