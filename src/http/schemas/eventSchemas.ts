import * as z from 'zod'
import type { OrderEventData, OrderEventType } from '../../orders/index.js'
import type { Answers } from './answerTypes.js'
import {
  addressSchema,
  bytes32Schema,
  decimalSchema,
  destinationFields,
  finalitySchema,
  reasonSchema,
  refundReasonSchema,
  stateSchema,
} from './fieldSchemas.js'

/** Types of events that buyers are sent. All others are for the merchant. */
export const buyerEventTypes: readonly OrderEventType[] = [
  'drafted',
  'accepted',
  'capturing',
  'preconfirmed',
  'captureRejected',
  'captured',
  'voided',
  'cancellationAccepted',
  'canceling',
  'cancelRejected',
  'canceled',
  'expired',
  'consumed',
  'reauthorized',
  'finalityRaised',
  'reorged',
  'refundRequested',
  'refunded',
  'refundFailed',
]

/**
 * The schema of an event in a buyer's stream. `order` is the order as loaded
 * after the event.
 */
export function buyerEventSchema(
  order: z.ZodType<Answers['BuyerOrder']>,
): z.ZodType<Answers['BuyerEvent']> {
  return z.strictObject({
    type: z.enum(['status', ...buyerEventTypes, 'end']),
    at: decimalSchema(),
    order,
  })
}

/**
 * The schemas of a merchant's events: one for each type, such as `FulfilEvent`,
 * and `OrderEvent`, the union of all.
 */
export function createEventSchemas(): Readonly<Record<string, z.ZodType>> {
  const all = Object.entries(dataSchemas()).map(([type, data]) => ({
    type,
    name: `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`,
    schema: eventSchema(type, data),
  }))
  const [first, ...others] = all.map(({ schema }) => schema)
  if (!first) return {}
  // Names the schema of each `type`, so that generated clients can parse the
  // union.
  const mapping = Object.fromEntries(
    all.map(({ type, name }) => [type, `#/components/schemas/${name}`]),
  )
  return {
    ...Object.fromEntries(all.map(({ name, schema }) => [name, schema])),
    OrderEvent: z
      .discriminatedUnion('type', [first, ...others])
      .meta({ discriminator: { propertyName: 'type', mapping } }),
  }
}

function eventSchema(type: string, data: z.ZodType) {
  const isOfOrder = !['unmatched', 'storeReplaced', 'channelMoved'].includes(
    type,
  )
  return z.strictObject({
    ...destinationFields(),
    cursor: decimalSchema(),
    ...(isOfOrder ? { orderId: z.string() } : {}),
    sequence: z.int(),
    type: z.literal(type),
    at: decimalSchema(),
    data,
  })
}

/** The data of each event. The compiler checks that no type is missing. */
type DataSchemas = {
  [type in OrderEventType]: z.ZodType<OrderEventData[type]>
}

function dataSchemas(): DataSchemas {
  const address = addressSchema()
  const decimal = decimalSchema()
  const bytes32 = bytes32Schema()
  const finality = finalitySchema()
  const number = z.int()
  const text = z.string()
  const nothing = z.strictObject({})
  const started = z.strictObject({ attempt: number })
  const rejected = z.strictObject({ reason: reasonSchema() })
  const unpaidPeriod = rejected.extend({ period: decimal })
  const spent = z.strictObject({
    transactionHash: bytes32,
    blockNumber: decimal,
  })
  const captured = z.strictObject({
    transactionHash: bytes32,
    logIndex: number,
    blockNumber: decimal,
    value: decimal,
    submitter: address,
  })
  const refund = captured.extend({ refundId: text, refundTo: address })
  const refundFields = { refundId: text, refundTo: address, value: decimal }
  return {
    drafted: z.strictObject({
      value: decimal,
      atMost: decimal.optional(),
      nonce: bytes32,
      validBefore: decimal,
    }),
    accepted: z.strictObject({
      payer: address,
      attempt: number,
      validBefore: decimal,
    }),
    captureRequested: z.strictObject({ value: decimal.optional() }),
    capturing: started,
    preconfirmed: z.strictObject({ transactionHash: bytes32 }),
    captureRejected: rejected,
    reopened: nothing,
    permissionApproved: spent,
    captured,
    voided: z.strictObject({ spendableUntil: decimal.optional() }),
    cancellationAccepted: z.strictObject({ relayed: z.boolean() }),
    canceling: started,
    cancelRejected: rejected,
    canceled: z.strictObject({
      transactionHash: bytes32.optional(),
      blockNumber: decimal,
    }),
    expired: z.strictObject({ blockNumber: decimal, blockTime: decimal }),
    consumed: spent.extend({ blockHash: bytes32.optional() }),
    reauthorized: z.strictObject({
      attempt: number,
      nonce: bytes32,
      validBefore: decimal,
    }),
    finalityRaised: z.strictObject({ finality }),
    fulfil: z.strictObject({ fulfilmentId: text, finality }),
    reorged: z.strictObject({
      transactionHash: bytes32,
      from: stateSchema(),
      to: stateSchema(),
    }),
    deadlineNear: z.strictObject({ deadline: decimal }),
    refundDue: captured.partial().extend({
      refundId: text,
      refundTo: address,
      reason: text.optional(),
    }),
    overpaid: refund,
    refundRequested: z.strictObject({
      ...refundFields,
      reason: refundReasonSchema().optional(),
    }),
    refunded: refund,
    refundFailed: z.strictObject({
      ...refundFields,
      reason: z.union([
        reasonSchema(),
        z.enum(['exceedsCaptured', 'canceled', 'reorged']),
      ]),
    }),
    servedUnpaid: z.strictObject({
      value: decimal,
      payer: address.optional(),
    }),
    lossAfterFulfilment: z.strictObject({ fulfilled: text }),
    needsReview: z.strictObject({ payer: address }),
    subscriptionPastDue: unpaidPeriod,
    subscriptionUnpaid: unpaidPeriod,
    channelMoved: z.strictObject({
      movementId: text,
      action: z.enum(['deposit', 'claim', 'refund']),
      channelId: bytes32.optional(),
      value: decimal,
      state: z.enum([
        'requested',
        'sent',
        'captured',
        'refused',
        'reorged',
        'expired',
        'voided',
        'canceled',
        'consumed',
      ]),
      transactionHash: bytes32.optional(),
      blockNumber: decimal.optional(),
      reason: reasonSchema().optional(),
      leftOut: z
        .array(z.strictObject({ channelId: bytes32, reason: reasonSchema() }))
        .optional(),
    }),
    submitterShared: z.strictObject({ account: address, nonce: number }),
    unmatched: captured.extend({ from: address }),
    storeReplaced: z.strictObject({ identity: text, before: text.optional() }),
  }
}
