import type { Finality } from 'countersign'
import type {
  CaptureResult,
  Order,
  OrderEvent,
  OrderEventData,
  OrderEventType,
  RefundReason,
} from 'countersign/orders'
import type { OrderReason, OrderRecord, OrderState } from 'countersign/store'
import type { WebhookPayload } from 'countersign/webhooks'
import type { Address, Hash } from 'viem'
import { expectTypeOf, test } from 'vitest'
import { moveOrder, withEvent } from '../../src/orders/model/changes.js'

type Captured = {
  transactionHash: Hash
  logIndex: number
  blockNumber: string
  value: string
  submitter: Address
}
type Refund = Captured & { refundId: string; refundTo: Address }
type Drafted = {
  value: string
  atMost?: string | undefined
  nonce: Hash
  validBefore: string
}

declare const event: OrderEvent
declare const payload: WebhookPayload

test('after a look at its type, an event has the data of that type', () => {
  switch (event.type) {
    case 'drafted':
      return expectTypeOf(event.data).toEqualTypeOf<Drafted>()
    case 'accepted':
      return expectTypeOf(event.data).toEqualTypeOf<{
        payer: Address
        attempt: number
        validBefore: string
      }>()
    case 'captureRequested':
      return expectTypeOf(event.data).toEqualTypeOf<{
        value?: string | undefined
      }>()
    case 'reopened':
      return expectTypeOf(event.data).toEqualTypeOf<Record<never, never>>()
    case 'permissionApproved':
      return expectTypeOf(event.data).toEqualTypeOf<{
        transactionHash: Hash
        blockNumber: string
      }>()
    case 'capturing':
    case 'canceling':
      return expectTypeOf(event.data).toEqualTypeOf<{ attempt: number }>()
    case 'preconfirmed':
      return expectTypeOf(event.data).toEqualTypeOf<{ transactionHash: Hash }>()
    case 'captureRejected':
    case 'cancelRejected':
      return expectTypeOf(event.data).toEqualTypeOf<{ reason: OrderReason }>()
    case 'captured':
      return expectTypeOf(event.data).toEqualTypeOf<Captured>()
    case 'voided':
      return expectTypeOf(event.data).toEqualTypeOf<{
        spendableUntil?: string | undefined
      }>()
    case 'cancellationAccepted':
      return expectTypeOf(event.data).toEqualTypeOf<{ relayed: boolean }>()
    case 'canceled':
      return expectTypeOf(event.data).toEqualTypeOf<{
        transactionHash?: Hash | undefined
        blockNumber: string
      }>()
    case 'consumed':
      return expectTypeOf(event.data).toEqualTypeOf<{
        transactionHash: Hash
        blockNumber: string
        blockHash?: Hash | undefined
      }>()
    case 'expired':
      return expectTypeOf(event.data).toEqualTypeOf<{
        blockNumber: string
        blockTime: string
      }>()
    case 'reauthorized':
      return expectTypeOf(event.data).toEqualTypeOf<{
        attempt: number
        nonce: Hash
        validBefore: string
      }>()
    case 'finalityRaised':
      return expectTypeOf(event.data).toEqualTypeOf<{ finality: Finality }>()
    case 'fulfil':
      return expectTypeOf(event.data).toEqualTypeOf<{
        fulfilmentId: string
        finality: Finality
      }>()
    case 'reorged':
      return expectTypeOf(event.data).toEqualTypeOf<{
        transactionHash: Hash
        from: OrderState
        to: OrderState
      }>()
    case 'deadlineNear':
      return expectTypeOf(event.data).toEqualTypeOf<{ deadline: string }>()
    case 'refundDue':
      return expectTypeOf(event.data).toMatchTypeOf<{
        transactionHash?: Hash | undefined
        refundId: string
        refundTo: Address
        reason?: string | undefined
      }>()
    case 'overpaid':
      return expectTypeOf(event.data).toEqualTypeOf<Refund>()
    case 'refundRequested':
      return expectTypeOf(event.data).toEqualTypeOf<{
        refundId: string
        refundTo: Address
        value: string
        reason?: RefundReason | undefined
      }>()
    case 'refunded':
      return expectTypeOf(event.data).toEqualTypeOf<Refund>()
    case 'refundFailed':
      return expectTypeOf(event.data).toEqualTypeOf<{
        refundId: string
        refundTo: Address
        value: string
        reason: OrderReason | 'exceedsCaptured' | 'canceled' | 'reorged'
      }>()
    case 'servedUnpaid':
      return expectTypeOf(event.data).toEqualTypeOf<{
        value: string
        payer?: Address | undefined
      }>()
    case 'lossAfterFulfilment':
      return expectTypeOf(event.data).toEqualTypeOf<{ fulfilled: string }>()
    case 'needsReview':
      return expectTypeOf(event.data).toEqualTypeOf<{ payer: Address }>()
    case 'subscriptionPastDue':
    case 'subscriptionUnpaid':
      return expectTypeOf(event.data).toEqualTypeOf<{
        period: string
        reason: OrderReason
      }>()
    case 'submitterShared':
      return expectTypeOf(event.data).toEqualTypeOf<{
        account: Address
        nonce: number
      }>()
    case 'channelMoved':
      return expectTypeOf(event.data).toMatchTypeOf<{
        movementId: string
        action: 'deposit' | 'claim' | 'refund'
        value: string
      }>()
    case 'unmatched':
      return expectTypeOf(event.data).toEqualTypeOf<
        Captured & { from: Address }
      >()
    case 'storeReplaced':
      return expectTypeOf(event.data).toEqualTypeOf<{
        identity: string
        before?: string | undefined
      }>()
    default:
      return expectTypeOf(event).toBeNever()
  }
})

test('an event of an order has its id, and other events have none', () => {
  if (
    event.type === 'unmatched' ||
    event.type === 'storeReplaced' ||
    event.type === 'channelMoved'
  )
    expectTypeOf(event.orderId).toEqualTypeOf<undefined>()
  else expectTypeOf(event.orderId).toEqualTypeOf<string>()
})

test('the members of an event narrow together when it is taken apart', () => {
  const { type, orderId, data } = event
  if (type !== 'fulfil') return
  expectTypeOf(orderId).toEqualTypeOf<string>()
  expectTypeOf(data.fulfilmentId).toEqualTypeOf<string>()
})

test('one type of event is all events narrowed to it', () => {
  expectTypeOf<OrderEvent<'fulfil'>>().toEqualTypeOf<
    Extract<OrderEvent, { type: 'fulfil' }>
  >()
  expectTypeOf<OrderEvent['type']>().toEqualTypeOf<OrderEventType>()
})

test('a webhook narrows by its type to the data of the event', () => {
  type Narrowed = {
    [type in OrderEventType]: Extract<
      WebhookPayload,
      { type: `order.${type}` }
    >['data'] extends OrderEventData[type]
      ? true
      : type
  }
  expectTypeOf<Narrowed[OrderEventType]>().toEqualTypeOf<true>()
  if (payload.type !== 'order.fulfil') return
  expectTypeOf(payload.data.fulfilmentId).toEqualTypeOf<string>()
  expectTypeOf(payload.data.orderId).toEqualTypeOf<string>()
  expectTypeOf(payload).toEqualTypeOf<WebhookPayload<'fulfil'>>()
  // @ts-expect-error
  payload.data.transactionHash
})

declare const order: OrderRecord
const at = 1n

test('data of another type than the event has cannot be written', () => {
  const transactionHash: Hash = '0x1'
  withEvent(order, { type: 'preconfirmed', at, data: { transactionHash } })
  // @ts-expect-error
  withEvent(order, { type: 'preconfirmed', at, data: {} })
  // @ts-expect-error
  withEvent(order, { type: 'preconfirmed', at })
  // @ts-expect-error
  withEvent(order, { type: 'reopened', at, data: { transactionHash } })
  // @ts-expect-error
  withEvent(order, { type: 'deadlineNear', at, data: { deadline: 1n } })
  const paused = { reason: 'paused' }
  // @ts-expect-error
  moveOrder(order, 'void', 'voided', { type: 'voided', at, data: paused })
  // @ts-expect-error
  withEvent(order, { type: 'captureRejected', at, data: { reason: 'because' } })
  // @ts-expect-error
  withEvent(order, { type: 'shipped', at, data: {} })
})

test('what concerns no order cannot be written as an event of an order', () => {
  const data = { identity: 'one', before: 'other' }
  // @ts-expect-error
  withEvent(order, { type: 'storeReplaced', at, data })
})

test('the reason of a rejected capture is one of a known list', () => {
  type Rejected = Extract<CaptureResult, { status: 'rejected' }>
  expectTypeOf<Rejected['reason']>().toEqualTypeOf<
    OrderReason | 'notOpen' | 'canceled' | 'otherAmount' | 'exceedsCeiling'
  >()
  expectTypeOf<Order['reason']>().toEqualTypeOf<OrderReason | undefined>()
  expectTypeOf<string>().not.toExtend<OrderReason>()
})
