import type { Address, Hash, Hex } from 'viem'
import type { Finality } from '../../core/types.js'
import type { Destination, OrderReason, OrderState } from '../../store/types.js'
import type { RefundFailure, RefundReason } from './refundTypes.js'

type MaybeAbsent<data> = { [member in keyof data]?: data[member] | undefined }

/**
 * The `data` of an event, by the type of the event. Amounts, block numbers and
 * times are decimal strings.
 */
export type OrderEventData = {
  /** `atMost` is set if the value is a ceiling. */
  drafted: {
    value: string
    atMost?: string | undefined
    nonce: Hex
    validBefore: string
  }
  accepted: { payer: Address; attempt: number; validBefore: string }
  /** `value` is set if the order has a ceiling: the amount to capture. */
  captureRequested: { value?: string | undefined }
  capturing: { attempt: number }
  /** The pending block shows the capture. The chain can still drop it. */
  preconfirmed: { transactionHash: Hash }
  captureRejected: { reason: OrderReason }
  /** The order's transactions can no longer be mined. A new one is sent. */
  reopened: Record<never, never>
  captured: {
    transactionHash: Hash
    logIndex: number
    blockNumber: string
    value: string
    submitter: Address
  }
  /**
   * Has `spendableUntil` if you called `void` and a signature of the buyer can
   * still be submitted.
   */
  voided: { spendableUntil?: string | undefined }
  /** `relayed` is true if the worker sends the cancellation. */
  cancellationAccepted: { relayed: boolean }
  canceling: { attempt: number }
  cancelRejected: { reason: OrderReason }
  /** Has no transaction if no log shows the cancellation, as for a permit. */
  canceled: { transactionHash?: Hash | undefined; blockNumber: string }
  expired: { blockNumber: string; blockTime: string }
  consumed: {
    transactionHash: Hash
    blockNumber: string
    blockHash?: Hash | undefined
  }
  reauthorized: { attempt: number; nonce: Hex; validBefore: string }
  /** The settlement of the order reached a higher finality. */
  finalityRaised: { finality: Finality }
  /** Fulfil the order now. `fulfilmentId` is the same each time. */
  fulfil: { fulfilmentId: string; finality: Finality }
  reorged: { transactionHash: Hash; from: OrderState; to: OrderState }
  deadlineNear: { deadline: string }
  /**
   * `reason` is set for x402 only. Has no transaction if a reorg undid the
   * capture, which may be mined again.
   */
  refundDue: MaybeAbsent<OrderEventData['captured']> & {
    refundId: string
    refundTo: Address
    reason?: string | undefined
  }
  overpaid: OrderEventData['captured'] & {
    refundId: string
    refundTo: Address
  }
  /** You asked for a refund. Nothing is signed yet. */
  refundRequested: {
    refundId: string
    refundTo: Address
    value: string
    reason?: RefundReason | undefined
  }
  /** The chain shows the transfer to the payer. A reorg can undo it. */
  refunded: OrderEventData['captured'] & {
    refundId: string
    refundTo: Address
  }
  /**
   * The refund did not happen so far. `reorged`: a reorg undid it, and it is
   * sent again.
   */
  refundFailed: {
    refundId: string
    refundTo: Address
    value: string
    reason: RefundFailure | 'canceled' | 'reorged'
  }
  /**
   * A request was answered at `preconfirmed`, while only the pending block
   * showed the capture, and the capture failed. If the payment is captured
   * after all, `captured` follows.
   */
  servedUnpaid: { value: string; payer?: Address | undefined }
  /** `fulfilled` is the `fulfilmentId` of the order. */
  lossAfterFulfilment: { fulfilled: string }
  needsReview: { payer: Address }
  /**
   * A period of a subscription was not paid so far: a charge failed, or the
   * period passed without one. The schedule goes on.
   */
  subscriptionPastDue: { period: string; reason: OrderReason }
  /** The schedule gave up. Nothing is charged until you resume it. */
  subscriptionUnpaid: { period: string; reason: OrderReason }
  submitterShared: { account: Address; nonce: number }
  unmatched: OrderEventData['captured'] & { from: Address }
  /** `identity` names this database, `before` the one that it is a copy of. */
  storeReplaced: { identity: string; before?: string | undefined }
}

/** The types of events of an order, a submitter or a store. */
export type OrderEventType = keyof OrderEventData

/**
 * An event. Its `type` decides what `data` holds: after
 * `if (event.type === 'fulfil')`, `event.data.fulfilmentId` is a string.
 * `OrderEvent<'fulfil'>` is the event of that type alone.
 */
export type OrderEvent<type extends OrderEventType = OrderEventType> = {
  [name in type]: Destination & {
    /** Position of the event among all events of the store. */
    cursor: bigint
    /** Absent if the event concerns no order. */
    orderId: name extends 'unmatched' | 'storeReplaced' ? undefined : string
    /** Position among the order's events, from 1; 0 if it concerns no order. */
    sequence: number
    type: name
    /** Unix milliseconds of the machine that wrote it. */
    at: bigint
    /** What happened; `type` decides its members. Plain JSON. */
    data: OrderEventData[name]
  }
}[type]
