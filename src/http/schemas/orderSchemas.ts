import type { Address, Hex } from 'viem'
import * as z from 'zod'
import type { Cancellation } from '../../core/types.js'
import type {
  AnyDraftedPayment,
  Order,
  RefundState,
  SettledCapture,
} from '../../orders/index.js'
import type { Answers, Wire } from './answerTypes.js'
import type { BuyerRefund } from './buyerOrder.js'
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

type OrderSchemas = {
  BuyerOrder: z.ZodType<Answers['BuyerOrder']>
  Order: z.ZodType<Answers['Order']>
  Refund: z.ZodType<Answers['Refund']>
  DraftedPayment: z.ZodType<Wire<AnyDraftedPayment>>
  Cancellation: z.ZodType<Wire<Cancellation>>
  Call: z.ZodType<{ to: Address; data: Hex }>
}

export type OrderSchemaName = keyof OrderSchemas

export function createOrderSchemas(): Readonly<OrderSchemas> {
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
      chainId: z.int(),
      token: address,
      recipient: address,
      window: z.strictObject({ validAfter: seconds, validBefore: seconds }),
      state: stateSchema(),
      transaction: z
        .strictObject({ hash: bytes32Schema(), finality: finalitySchema() })
        .nullable(),
      refunds: z.array(buyerRefundSchema()),
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

function orderSchema(
  refund: z.ZodType<Answers['Refund']>,
): z.ZodType<Wire<Order>> {
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
    primaryType: anyPrimaryTypeSchema().optional(),
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

function buyerRefundSchema(): z.ZodType<Wire<BuyerRefund>> {
  return z.strictObject({
    state: refundStateSchema(),
    amount: z.string(),
    transaction: z
      .strictObject({
        hash: bytes32Schema(),
        blockNumber: decimalSchema(),
        finality: finalitySchema(),
      })
      .nullable(),
  })
}

function refundStateSchema(): z.ZodType<RefundState> {
  return z.enum(['requested', 'sending', 'succeeded', 'failed', 'canceled'])
}

function refundSchema(): z.ZodType<Answers['Refund']> {
  return z.strictObject({
    refundId: z.string(),
    orderId: z.string(),
    state: refundStateSchema(),
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

export function captureSchema(): z.ZodType<Wire<SettledCapture>> {
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
