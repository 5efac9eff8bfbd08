import type { Cancellation } from '../../core/types.js'
import type { NodeFault } from '../../orders/engine.js'
import type {
  AnyDraftedPayment,
  AuditReport,
  CaptureResult,
  Order,
  OrderEvent,
  Orders,
  OrdersHealth,
  ReconciliationReport,
  Refund,
} from '../../orders/index.js'
import type { SpendPermission } from '../../subscriptions/permission/types.js'
import type { Subscription } from '../../subscriptions/schedule/showSubscription.js'
import type { IssuedBuyerToken } from '../../subscriptions/verbs/buyerTokens.js'
import type { DraftedSubscription } from '../../subscriptions/verbs/draftSubscription.js'
import type {
  ListedCharges,
  ListedSubscriptions,
} from '../../subscriptions/verbs/listSubscriptions.js'
import type { BuyerOrder } from './buyerOrder.js'
import type { BuyerSubscription } from './buyerSubscription.js'

/**
 * A value as JSON: each `bigint` becomes a decimal string, and a member that is
 * `undefined` is left out.
 */
export type Wire<value> = value extends bigint
  ? string
  : value extends readonly (infer item)[]
    ? readonly Wire<item>[]
    : value extends object
      ? WireObject<value>
      : value

type WireObject<value> = {
  [name in keyof value as undefined extends value[name] ? never : name]: Wire<
    value[name]
  >
} & {
  [name in keyof value as undefined extends value[name] ? name : never]?: Wire<
    value[name]
  >
}

/** Values with a fault: the error text of a node, and the kind of the fault. */
export type Faulty = {
  fault: string | undefined
  faultKind: NodeFault | undefined
}

/**
 * The same values, with only the kind of the fault. The error text is left out,
 * because it can contain the URL of a node.
 */
export type Shown<facts> = Omit<facts, keyof Faulty> & {
  fault: NodeFault | undefined
}

/** Health for HTTP responses, without the error text of nodes. */
export type ShownHealth = Omit<OrdersHealth, 'chains' | 'submitters'> & {
  chains: readonly Shown<OrdersHealth['chains'][number]>[]
  submitters: readonly Shown<OrdersHealth['submitters'][number]>[]
}

/**
 * An event in a buyer's stream. Two types exist only in streams: `status` is
 * the first event after each connection, `end` the last one.
 */
type BuyerEvent = {
  type: OrderEvent['type'] | 'status' | 'end'
  /** When the event happened, in Unix milliseconds. */
  at: bigint
  /** The order, loaded after the event happened. */
  order: BuyerOrder
}

/**
 * The first event of a merchant's stream, which says where the stream begins.
 */
export type StreamStatus = {
  type: 'status'
  /** The stream sends the events after this cursor. */
  cursor: bigint
}

type Decided<status> = Extract<CaptureResult, { status: status }>

/** Answers before they become JSON, by their name in the OpenAPI document. */
type Values = {
  BuyerOrder: BuyerOrder
  BuyerEvent: BuyerEvent
  PaymentToSign: { payment: AnyDraftedPayment }
  CancellationToSign: { cancellation: Cancellation }
  CancellationTaken: { order: BuyerOrder; call?: BuyerCall | undefined }
  DraftedOrder: {
    order: Order
    payment: AnyDraftedPayment
    buyerToken: string
  }
  Order: Order
  OrderList: { orders: readonly Order[]; cursor: bigint | undefined }
  Captured: Decided<'captured' | 'preconfirmed'>
  CaptureUnknown: Decided<'unknown'>
  Voided: { order: Order; spendableUntil: bigint | undefined }
  Reauthorized: { order: Order; payment: AnyDraftedPayment }
  CancellationApproved: { order: Order; call?: BuyerCall | undefined }
  Refund: Refund
  RefundTaken: { refund: Refund; order: Order }
  RefundList: {
    /** Refunds of the order, oldest first. */
    refunds: readonly Refund[]
    /** Token units. */
    refunded: bigint
    refundable: bigint
  }
  RefundToSign: { refund: Refund; payment: AnyDraftedPayment }
  RefundSigned: { refund: Refund }
  ReconciliationReport: ReconciliationReport
  AuditReport: AuditReport
  Health: ShownHealth
  StreamStatus: StreamStatus
  SpendPermission: SpendPermission
  Subscription: Subscription
  DraftedSubscription: DraftedSubscription
  SubscriptionList: ListedSubscriptions
  SubscriptionAnswer: { subscription: Subscription }
  BuyerSubscription: BuyerSubscription
  IssuedBuyerToken: IssuedBuyerToken
  /** A charge is shown as an order. */
  Charge: { order: Order }
  ChargeList: ListedCharges
  /** True while workers send nothing, until `resume` is called. */
  Sending: { suspended: boolean }
  ResealReport: Awaited<ReturnType<Orders['reseal']>>
}

type BuyerCall = { to: `0x${string}`; data: `0x${string}` }

/** Answers of the routes as JSON, by their name in the OpenAPI document. */
export type Answers = { [name in keyof Values]: Wire<Values[name]> }

/** An event in a merchant's stream, as JSON. */
export type WireOrderEvent = Wire<OrderEvent>
