import type { Address, Hash, Hex } from 'viem'
import type { MovementAction } from '../../core/movementIds.js'
import type { Finality } from '../../core/types.js'
import type { Destination, OrderReason, OrderState } from '../../store/types.js'
import type { RefundFailure, RefundReason } from './refundTypes.js'

type MaybeAbsent<data> = { [member in keyof data]?: data[member] | undefined }

/**
 * The `data` of an event, by the type of the event. Amounts, block numbers and
 * times are decimal strings.
 */
export type OrderEventData = {
  /** An order was drafted. `atMost` is set if the value is a ceiling. */
  drafted: {
    value: string
    atMost?: string | undefined
    nonce: Hex
    validBefore: string
  }
  accepted: { payer: Address; attempt: number; validBefore: string }
  /**
   * A capture was requested. `value` is set if the order has a ceiling: it is
   * the amount to capture.
   */
  captureRequested: { value?: string | undefined }
  capturing: { attempt: number }
  /** The pending block shows the capture. The chain can still drop it. */
  preconfirmed: { transactionHash: Hash }
  captureRejected: { reason: OrderReason }
  /**
   * The transactions sent so far can no longer decide the order, so a new one
   * is sent.
   */
  reopened: Record<never, never>
  /**
   * The chain shows the approval of a spend permission. Nothing is charged yet:
   * the charge is sent next.
   */
  permissionApproved: { transactionHash: Hash; blockNumber: string }
  captured: {
    transactionHash: Hash
    logIndex: number
    blockNumber: string
    value: string
    submitter: Address
  }
  /**
   * The order was voided. `spendableUntil` is set if you called `void` and a
   * signature of the buyer can still be submitted until then.
   */
  voided: { spendableUntil?: string | undefined }
  /**
   * A buyer's cancellation was stored. If `relayed` is true, the worker sends
   * it to the chain; otherwise the buyer may.
   */
  cancellationAccepted: { relayed: boolean }
  canceling: { attempt: number }
  cancelRejected: { reason: OrderReason }
  /**
   * The payment was canceled on chain. There is no transaction hash if no log
   * shows the cancellation, as for a permit.
   */
  canceled: { transactionHash?: Hash | undefined; blockNumber: string }
  expired: { blockNumber: string; blockTime: string }
  consumed: {
    transactionHash: Hash
    blockNumber: string
    blockHash?: Hash | undefined
  }
  reauthorized: { attempt: number; nonce: Hex; validBefore: string }
  /** The block that settled the order reached a higher finality. */
  finalityRaised: { finality: Finality }
  /**
   * Deliver the order now. `fulfilmentId` is the same if the event comes again,
   * so use it to deliver only once.
   */
  fulfil: { fulfilmentId: string; finality: Finality }
  reorged: { transactionHash: Hash; from: OrderState; to: OrderState }
  deadlineNear: { deadline: string }
  /**
   * A payment must be refunded. `reason` is set for x402 only. There is no
   * transaction hash if a reorg undid the capture, which may be mined again.
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
  /** You requested a refund. Nothing is signed yet. */
  refundRequested: {
    refundId: string
    refundTo: Address
    value: string
    reason?: RefundReason | undefined
  }
  /**
   * The chain shows the transfer of a refund to the payer. A reorg can undo it.
   */
  refunded: OrderEventData['captured'] & {
    refundId: string
    refundTo: Address
  }
  /**
   * The refund has not happened so far. With the reason `reorged`, a reorg
   * undid it, and it is sent again.
   */
  refundFailed: {
    refundId: string
    refundTo: Address
    value: string
    reason: RefundFailure | 'canceled' | 'reorged'
  }
  /**
   * A capture was answered at `preconfirmed`, while only the pending block
   * showed it, and then failed. If the payment is captured after all,
   * `captured` follows.
   */
  servedUnpaid: { value: string; payer?: Address | undefined }
  /**
   * A reorg undid the payment of an order that was already fulfilled.
   * `fulfilled` is the `fulfilmentId` of the order.
   */
  lossAfterFulfilment: { fulfilled: string }
  needsReview: { payer: Address }
  /**
   * A period of a subscription has not been paid so far: its charge failed, or
   * the period passed without a charge. The schedule continues.
   */
  subscriptionPastDue: { period: string; reason: OrderReason }
  /**
   * The schedule of a subscription stopped after too many failures. Nothing is
   * charged until you restart it.
   */
  subscriptionUnpaid: { period: string; reason: OrderReason }
  /**
   * A deposit, claim or refund of channels took a step. `leftOut` names the
   * channels that a claim leaves out, because they would make it fail.
   */
  channelMoved: {
    movementId: string
    action: MovementAction
    channelId?: Hex | undefined
    /** Amount of the movement as it was planned, in base units of the token. */
    value: string
    state:
      | 'requested'
      | 'sent'
      | 'captured'
      | 'refused'
      | 'reorged'
      | 'expired'
      | 'voided'
      | 'canceled'
      | 'consumed'
    transactionHash?: Hash | undefined
    blockNumber?: string | undefined
    reason?: OrderReason | undefined
    leftOut?: readonly { channelId: Hex; reason: OrderReason }[] | undefined
  }
  submitterShared: { account: Address; nonce: number }
  unmatched: OrderEventData['captured'] & { from: Address }
  /**
   * The database was replaced. `identity` names this database, `before` the one
   * that it is a copy of.
   */
  storeReplaced: { identity: string; before?: string | undefined }
}

/** The types of events of an order, a submitter or a store. */
export type OrderEventType = keyof OrderEventData

/**
 * An event. Its `type` decides what `data` contains: after `if (event.type ===
 * 'fulfil')`, `event.data.fulfilmentId` is a string. The type
 * `OrderEvent<'fulfil'>` has only events of that type.
 */
export type OrderEvent<type extends OrderEventType = OrderEventType> = {
  [name in type]: Destination & {
    /**
     * Position of the event among all events of the store; pass it as `after`
     * to get the next ones.
     */
    cursor: bigint
    /** Id of the order. Absent if the event concerns none. */
    orderId: name extends 'unmatched' | 'storeReplaced' | 'channelMoved'
      ? undefined
      : string
    /**
     * Position among the events of its order, from 1; 0 if the event concerns
     * no order.
     */
    sequence: number
    type: name
    /** Unix milliseconds, by the clock of the machine that wrote the event. */
    at: bigint
    /**
     * Details of the event as plain JSON; `type` decides which members there
     * are.
     */
    data: OrderEventData[name]
  }
}[type]
