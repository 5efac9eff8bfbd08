import type { Address, Hash, Hex } from 'viem'
import type { Finality } from '../../core/types.js'
import type { Destination, OrderReason, OrderState } from '../../store/types.js'

type MaybeAbsent<data> = { [member in keyof data]?: data[member] | undefined }

/**
 * What the `data` of an event holds, by the type of the event. Amounts, block
 * numbers and times are decimal strings.
 */
export type OrderEventData = {
  drafted: { value: string; nonce: Hex; validBefore: string }
  accepted: { payer: Address; attempt: number; validBefore: string }
  captureRequested: Record<never, never>
  capturing: { attempt: number }
  /** Seen in the block being made; it can still be dropped. */
  preconfirmed: { transactionHash: Hash }
  captureRejected: { reason: OrderReason }
  /** Its transactions will never be mined. A new one is sent. */
  reopened: Record<never, never>
  captured: {
    transactionHash: Hash
    logIndex: number
    blockNumber: string
    value: string
    submitter: Address
  }
  /** Has `spendableUntil` if you called `void` and the signature can be spent. */
  voided: { spendableUntil?: string | undefined }
  /** `relayed` is true if the worker is to send the cancellation. */
  cancelRequested: { relayed: boolean }
  canceling: { attempt: number }
  cancelRejected: { reason: OrderReason }
  canceled: { transactionHash: Hash; blockNumber: string }
  expired: { blockNumber: string; blockTime: string }
  consumed: { transactionHash: Hash; blockNumber: string }
  reauthorized: { attempt: number; nonce: Hex; validBefore: string }
  /** The chain is surer of what settled the order. */
  finalityRaised: { finality: Finality }
  /** To be fulfilled; `fulfilmentId` is the same each time. */
  fulfil: { fulfilmentId: string; finality: Finality }
  reorged: { transactionHash: Hash; from: OrderState; to: OrderState }
  deadlineNear: { deadline: string }
  /**
   * `reason` is set for x402 only. Without a transaction a reorganization took
   * the capture back; it may come again.
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
  /** `fulfilled` is the `fulfilmentId` of the order. */
  lossAfterFulfilment: { fulfilled: string }
  needsReview: { payer: Address }
  submitterShared: { account: Address; nonce: number }
  unmatched: OrderEventData['captured'] & { from: Address }
  /** Identities of the database now, and of the one it is a copy of. */
  storeReplaced: { identity: string; before?: string | undefined }
}

/** What can happen to an order, a submitter or a store. */
export type OrderEventType = keyof OrderEventData

/**
 * An event. Its `type` decides what `data` holds: after
 * `if (event.type === 'fulfil')`, `event.data.fulfilmentId` is a string.
 * `OrderEvent<'fulfil'>` is the event of that type alone.
 */
export type OrderEvent<type extends OrderEventType = OrderEventType> = {
  [name in type]: Destination & {
    /** Place in the stream. */
    cursor: bigint
    /** Absent where it concerns no order. */
    orderId: name extends 'unmatched' | 'storeReplaced' ? undefined : string
    /** Place among the order's events, from 1; 0 where it concerns none. */
    sequence: number
    type: name
    /** Unix milliseconds of the machine that wrote it. */
    at: bigint
    /** What its type says, as plain JSON. */
    data: OrderEventData[name]
  }
}[type]
