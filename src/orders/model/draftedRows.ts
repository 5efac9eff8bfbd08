/** Initial values of a new order's row. */
export const draftedOrder = {
  sequence: 0,
  state: 'drafted',
  attempt: 1,
  captureValue: undefined,
  sendDue: undefined,
  lookDue: undefined,
  requested: undefined,
  reason: undefined,
  tries: 0,
  needsReview: false,
  unexpected: false,
  overpaid: false,
  fulfilled: undefined,
  finality: undefined,
  settledHash: undefined,
  settledBlock: undefined,
  refunds: 0,
  refundOf: undefined,
  refundId: undefined,
  refundTo: undefined,
  refundAttempt: undefined,
  subscriptionId: undefined,
  chargeId: undefined,
  early: undefined,
  earlyFor: undefined,
} as const

/** Initial values of a new attempt's row, before it is signed. */
export const unsignedAttempt = {
  signedAfter: undefined,
  signedBefore: undefined,
  signatureHash: undefined,
  spendableUntil: undefined,
  spendable: false,
  signature: undefined,
  cancellation: undefined,
} as const
