import type { OrderEventType } from 'countersign/orders'

/** Each of them once: one that is missing here does not compile. */
const every: Record<OrderEventType, true> = {
  drafted: true,
  accepted: true,
  captureRequested: true,
  capturing: true,
  preconfirmed: true,
  captureRejected: true,
  reopened: true,
  permissionApproved: true,
  captured: true,
  voided: true,
  cancellationAccepted: true,
  canceling: true,
  cancelRejected: true,
  canceled: true,
  expired: true,
  consumed: true,
  reauthorized: true,
  finalityRaised: true,
  fulfil: true,
  reorged: true,
  deadlineNear: true,
  refundDue: true,
  overpaid: true,
  refundRequested: true,
  refunded: true,
  refundFailed: true,
  servedUnpaid: true,
  lossAfterFulfilment: true,
  needsReview: true,
  subscriptionPastDue: true,
  subscriptionUnpaid: true,
  channelMoved: true,
  submitterShared: true,
  unmatched: true,
  storeReplaced: true,
}

/** All that can happen to an order, a submitter or a store. */
export const eventTypes = Object.keys(every) as OrderEventType[]
