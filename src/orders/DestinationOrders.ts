import type {
  AcceptVerdict,
  CancellationRequest,
  CancelVerdict,
  CaptureResult,
  DraftedOrder,
  Order,
  ReauthorizeVerdict,
  VoidVerdict,
} from './model/types.js'
import type { AcceptPaymentParameters } from './verbs/acceptPayment.js'
import type { AuditParameters, AuditReport } from './verbs/auditOrders.js'
import type { CancelOrderParameters } from './verbs/cancelOrder.js'
import type { CaptureOrderParameters } from './verbs/captureOrder.js'
import type {
  GetForBuyerParameters,
  OrderForBuyer,
} from './verbs/getForBuyer.js'
import type { OrdersHealth } from './verbs/getHealth.js'
import type { GetOrderParameters } from './verbs/getOrder.js'
import type { ListEventsParameters, ListedEvents } from './verbs/listEvents.js'
import type { ListedOrders, ListOrdersParameters } from './verbs/listOrders.js'
import type { DraftOrderParameters } from './verbs/planDraft.js'
import type { ReauthorizeOrderParameters } from './verbs/reauthorizeOrder.js'
import type { RequestCancellationParameters } from './verbs/requestCancellation.js'
import type { VoidOrderParameters } from './verbs/voidOrder.js'
import type {
  ReconcileParameters,
  ReconciliationReport,
} from './watcher/reconcile.js'

/**
 * Orders of some recipients; orders of other recipients do not exist here.
 * Every method throws {@link StoreError} when the store cannot be used. `draft`,
 * `accept`, `reauthorize`, `capture` and `cancel` throw {@link OrdersSetupError}
 * when a secret on record needs a sealing key that is missing.
 */
export interface DestinationOrders {
  /**
   * Fixes what an order costs, to whom and until when, and gives the payment
   * for the buyer's browser to sign.
   *
   * The same id with the same contents gives the same order and payment again
   * as long as nobody paid, with a new `buyerToken`: the old one ends. A window
   * that is over stays over: only `reauthorize` gives another, and once the
   * order is `expired` its id is in use.
   *
   * Nothing is reserved: a draft says nothing about the buyer's funds.
   *
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
  draft(parameters: DraftOrderParameters): Promise<DraftedOrder>

  /**
   * Compares a signed payment with what was drafted, rehearses its capture, and
   * keeps it. The same signature again gets the same answer. Takes one HTTP
   * request where the client batches.
   *
   * Accepting moves nothing and reserves nothing on chain: the payer can still
   * spend the funds before the capture.
   *
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
   * Gives the payment of an order to be signed once more, with a new window. It
   * keeps its nonce, so that at most one of the signatures can settle, unless
   * the last one can never settle: canceled, or expired in a finalized block.
   *
   * The signature on record is the one captured until a new one is accepted,
   * and stays spendable until its own window ends.
   *
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
   * Captures an order exactly once, and waits for what the chain shows. While
   * the capture is in flight or decided, a second call gets the first one's
   * result. A rejected order that is still open may be captured again.
   *
   * `unknown` is no failure: the request is on record, and `run` or another
   * call goes on with it. A captured order may still be lost to a reorg: ship
   * on its `fulfil` event.
   *
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
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
   * Gives up on an order: nothing is submitted for it any more.
   *
   * The buyer's signature does not end with it: until `spendableUntil` anyone
   * who holds a Transfer payment can submit it. Only a cancellation ends it
   * sooner.
   *
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
   * Gives the cancellation of an order for its buyer to sign.
   *
   * Nothing changes by it, nor by the signature alone: `cancel` takes that.
   *
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the id is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const cancellationOf = (orders: Orders, orderId: string) =>
   *   orders.requestCancellation({ orderId })
   * ```
   */
  requestCancellation(
    parameters: RequestCancellationParameters,
  ): Promise<CancellationRequest>

  /**
   * Takes a buyer's signed cancellation, or with `approve` sends the one on
   * record. The order is not captured any more. `policy.relayCancellations`
   * says whether we send it; otherwise the result holds the call to send.
   *
   * The order is `canceled` only once the chain shows it: a capture in flight
   * can still win, and a cancellation that nobody sends ends nothing.
   *
   * @throws {@link OrderNotFoundError} when there is no such order.
   * @throws {@link InvalidFieldError} when the cancellation is malformed or not
   * signed, or there is neither a cancellation nor `approve: true`.
   * @throws {@link ClockSkewError} when chain and wall clock differ by over
   * 120 s.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its answer is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const approve = (orders: Orders, orderId: string) =>
   *   orders.cancel({ orderId, approve: true })
   * ```
   */
  cancel(parameters: CancelOrderParameters): Promise<CancelVerdict>

  /**
   * Compares the record with the chain and writes what is missing: payments and
   * cancellations that others submitted, payments of orders that were given up,
   * and payments without an order. A second run changes nothing.
   *
   * A reorg can undo what it finds until that is final.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link OrdersSetupError} when the destination is not of this
   * instance.
   * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError}
   * when a node refuses, does not answer, or its answers are not of one chain.
   * What it wrote by then is true; the next run reads the rest again.
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
   * Gives an order as it is on record. Asks no node.
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
   * Gives an order, and the payment to sign, to the buyer who shows its token.
   * Asks no node.
   *
   * The token proves only who asks: it pays nothing and moves nothing.
   *
   * @throws {@link OrderNotFoundError} when there is no such order, or the
   * token is not the order's.
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
   * Lists orders as they are on record, the newest first. Asks no node.
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
   * Lists events from a cursor on, in one order for all readers.
   *
   * An event comes at least once: if you lose your cursor, you get events
   * again. Recognize them by their own `cursor`.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link CursorAheadError} when the cursor is ahead of every event: it
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
   * Reports how things stand: orders by state, submitters with their gas and
   * who works on them, how far each destination is reconciled, and how many
   * secrets each sealing key sealed. Includes a submitter whose wallet was removed while something waits for it. Holds no
   * credential.
   *
   * A node that does not answer within five seconds is part of the report, and
   * no error.
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
   * Compares what reached the recipients on chain with the record, to the unit,
   * and lists every difference. Changes nothing: `reconcile` does.
   *
   * Covers everything on record unless you give a range: from the block of the
   * oldest order to the newest block. A payment that arrived since the last
   * reconciliation is a difference too: call `reconcile` first for the exact
   * answer. Transfers of nothing count for neither side.
   *
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
}
