import * as z from 'zod'
import {
  addressSchema,
  anyPrimaryTypeSchema,
  bytes32Schema,
  bytesSchema,
  decimalSchema,
  destinationFields,
  domainSchema,
  finalitySchema,
  reasonSchema,
  refundReasonSchema,
  stateSchema,
  termsSchema,
} from './fieldSchemas.js'

export type OrderSchemaName =
  | 'BuyerOrder'
  | 'Order'
  | 'Refund'
  | 'DraftedPayment'
  | 'Cancellation'
  | 'Call'

/** Creates the schemas of orders and of the payments that buyers sign. */
export function createOrderSchemas(): Readonly<
  Record<OrderSchemaName, z.ZodType>
> {
  const address = addressSchema()
  const nonce = bytes32Schema()
  const seconds = decimalSchema()
  const refund = refundSchema()
  return {
    Order: orderSchema(refund),
    Refund: refund,
    BuyerOrder: z.strictObject({
      amount: z.string(),
      atMost: z.string().optional(),
      token: address,
      recipient: address,
      window: z.strictObject({ validAfter: seconds, validBefore: seconds }),
      state: stateSchema(),
      transaction: z
        .strictObject({ hash: bytes32Schema(), finality: finalitySchema() })
        .nullable(),
    }),
    DraftedPayment: z.strictObject({
      primaryType: anyPrimaryTypeSchema(),
      domain: domainSchema(),
      message: z.strictObject({
        from: address.optional(),
        to: address,
        value: decimalSchema(),
        validAfter: seconds,
        validBefore: seconds,
        nonce,
      }),
      checkout: termsSchema().optional(),
    }),
    Cancellation: z.strictObject({
      primaryType: z.literal('CancelAuthorization'),
      domain: domainSchema(),
      message: z.strictObject({ authorizer: address, nonce }),
    }),
    Call: z.strictObject({ to: address, data: bytesSchema() }),
  }
}

function orderSchema(refund: z.ZodType): z.ZodType {
  const seconds = decimalSchema()
  return z.strictObject({
    ...destinationFields(),
    id: z.string(),
    state: stateSchema(),
    attempt: z.int(),
    nonce: bytes32Schema(),
    payer: addressSchema().optional(),
    kind: z.string(),
    amount: z.string(),
    value: decimalSchema(),
    atMost: z.string().optional(),
    primaryType: anyPrimaryTypeSchema(),
    validAfter: seconds,
    validBefore: seconds,
    spendableUntil: seconds.optional(),
    requested: z.enum(['capture', 'void', 'cancel']).optional(),
    reason: reasonSchema().optional(),
    needsReview: z.boolean(),
    unexpected: z.boolean(),
    overpaid: z.boolean(),
    metadata: z.record(z.string(), z.unknown()),
    createdAt: seconds,
    preconfirmed: bytes32Schema().optional(),
    capture: captureSchema().optional(),
    cancellation: z
      .strictObject({
        transactionHash: bytes32Schema(),
        blockNumber: decimalSchema(),
        blockTime: seconds,
        finality: finalitySchema(),
      })
      .optional(),
    refunds: z.array(refund),
    refunded: decimalSchema(),
    refundable: decimalSchema(),
  })
}

function refundSchema(): z.ZodType {
  return z.strictObject({
    refundId: z.string(),
    orderId: z.string(),
    state: z.enum(['requested', 'sending', 'succeeded', 'failed', 'canceled']),
    failure: z.union([reasonSchema(), z.literal('exceedsCaptured')]).optional(),
    amount: z.string(),
    value: decimalSchema(),
    to: addressSchema(),
    reason: refundReasonSchema().optional(),
    reserved: z.boolean(),
    nonce: bytes32Schema().optional(),
    validBefore: decimalSchema().optional(),
    transfer: captureSchema().optional(),
  })
}

export function captureSchema(): z.ZodType {
  const wei = decimalSchema()
  return z.strictObject({
    transactionHash: bytes32Schema(),
    blockHash: bytes32Schema(),
    blockNumber: decimalSchema(),
    logIndex: z.int(),
    submitter: addressSchema(),
    gasUsed: decimalSchema(),
    effectiveGasPrice: wei,
    finality: finalitySchema(),
    blockTime: decimalSchema(),
    fee: wei,
  })
}
