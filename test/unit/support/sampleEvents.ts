import type {
  OrderEvent,
  OrderEventData,
  OrderEventType,
} from 'countersign/orders'
import type { Address, Hash } from 'viem'
import { eventTypes } from './eventTypes.js'

const account: Address = `0x${'a'.repeat(40)}`
const hash: Hash = `0x${'c'.repeat(64)}`
const spent = { transactionHash: hash, blockNumber: '36712345' }
const captured = {
  ...spent,
  logIndex: 4,
  value: '12500000',
  submitter: account,
}
const refund = { ...captured, refundId: 'order-1/1', refundTo: account }
const asked = { nonce: hash, validBefore: '1760000900' }

/** What each type of event may hold. */
const data: OrderEventData = {
  drafted: { value: '12500000', atMost: '12500000', ...asked },
  accepted: { payer: account, attempt: 1, validBefore: '1760000900' },
  captureRequested: { value: '12500000' },
  capturing: { attempt: 1 },
  preconfirmed: { transactionHash: hash },
  captureRejected: { reason: 'insufficientFunds' },
  reopened: {},
  permissionApproved: spent,
  captured,
  voided: { spendableUntil: '1760000900' },
  cancellationAccepted: { relayed: true },
  canceling: { attempt: 1 },
  cancelRejected: { reason: 'paused' },
  canceled: spent,
  expired: { blockNumber: '36712345', blockTime: '1760000901' },
  consumed: { ...spent, blockHash: hash },
  reauthorized: { attempt: 2, ...asked },
  finalityRaised: { finality: 'safe' },
  fulfil: { fulfilmentId: `order-1/${hash}`, finality: 'safe' },
  reorged: { transactionHash: hash, from: 'captured', to: 'capturing' },
  deadlineNear: { deadline: '1760000900' },
  refundDue: refund,
  overpaid: refund,
  refundRequested: {
    refundId: 'order-1/1',
    refundTo: account,
    value: '12500000',
    reason: 'requestedByCustomer',
  },
  refunded: refund,
  refundFailed: {
    refundId: 'order-1/1',
    refundTo: account,
    value: '12500000',
    reason: 'payerBlocked',
  },
  servedUnpaid: { value: '12500000', payer: account },
  lossAfterFulfilment: { fulfilled: `order-1/${hash}` },
  needsReview: { payer: account },
  subscriptionPastDue: { period: '2', reason: 'insufficientFunds' },
  subscriptionUnpaid: { period: '2', reason: 'insufficientFunds' },
  channelMoved: {
    ...spent,
    movementId: 'claim+00c0ffee00c0ffee',
    action: 'claim',
    value: '12500000',
    state: 'captured',
  },
  submitterShared: { account, nonce: 7 },
  unmatched: { ...captured, from: account },
  storeReplaced: { identity: 'one', before: 'other' },
}

function sampleEvent(type: OrderEventType): OrderEvent {
  const isOfOrder = !['unmatched', 'storeReplaced', 'channelMoved'].includes(
    type,
  )
  // The data are those of the type, and only some events have no order.
  return {
    chainId: 8453,
    token: account,
    recipient: account,
    cursor: 12n,
    orderId: isOfOrder ? 'order-1' : undefined,
    sequence: isOfOrder ? 3 : 0,
    type,
    at: 1_760_000_000_123n,
    data: data[type],
  } as OrderEvent
}

/** One event of each type. */
export const sampleEvents = eventTypes.map(sampleEvent)
