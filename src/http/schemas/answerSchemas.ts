import * as z from 'zod'
import type { Answers } from './answerTypes.js'
import { buyerEventSchema } from './eventSchemas.js'
import { bytes32Schema, decimalSchema } from './fieldSchemas.js'
import {
  captureSchema,
  createOrderSchemas,
  type OrderSchemaName,
} from './orderSchemas.js'
import { problemTable } from './problemTable.js'
import { createReportSchemas, type ReportSchemaName } from './reportSchemas.js'
import {
  createSubscriptionSchemas,
  type SubscriptionSchemaName,
} from './subscriptionSchemas.js'

/** Names of answers in the OpenAPI document. */
export type AnswerName =
  | OrderSchemaName
  | ReportSchemaName
  | 'BuyerEvent'
  | 'StreamStatus'
  | 'PaymentToSign'
  | 'CancellationToSign'
  | 'CancellationTaken'
  | 'DraftedOrder'
  | 'OrderList'
  | 'Captured'
  | 'CaptureUnknown'
  | 'Voided'
  | 'Reauthorized'
  | 'CancellationApproved'
  | 'RefundTaken'
  | 'RefundList'
  | 'RefundToSign'
  | 'RefundSigned'
  | SubscriptionSchemaName
  | 'DraftedSubscription'
  | 'SubscriptionList'
  | 'SubscriptionAnswer'
  | 'IssuedBuyerToken'
  | 'Charge'
  | 'ChargeList'
  | 'Sending'
  | 'ResealReport'
  | 'Probe'
  | 'Problem'

/**
 * Ties each schema to the type of its answer in {@link Answers}, so that the
 * compiler reports any difference between the two.
 */
export type AnswerSchemas = Readonly<{
  [name in AnswerName]: name extends keyof Answers
    ? z.ZodType<Answers[name]>
    : z.ZodType
}>

export function createAnswerSchemas(): AnswerSchemas {
  const parts = createOrderSchemas()
  const { BuyerOrder, Order, Refund, DraftedPayment, Cancellation, Call } =
    parts
  const subscriptions = createSubscriptionSchemas(BuyerOrder)
  const { Subscription, SpendPermission } = subscriptions
  const call = Call.optional()
  const until = decimalSchema()
  const buyerToken = z.string().regex(/^[0-9a-f]{64}$/)
  return {
    ...parts,
    ...createReportSchemas(),
    ...subscriptions,
    BuyerEvent: buyerEventSchema(BuyerOrder),
    StreamStatus: z.strictObject({
      type: z.literal('status'),
      cursor: until,
    }),
    PaymentToSign: z.strictObject({ payment: DraftedPayment }),
    CancellationToSign: z.strictObject({ cancellation: Cancellation }),
    CancellationTaken: z.strictObject({ order: BuyerOrder, call }),
    CancellationApproved: z.strictObject({ order: Order, call }),
    DraftedOrder: z.strictObject({
      order: Order,
      payment: DraftedPayment,
      buyerToken,
    }),
    OrderList: z.strictObject({
      orders: z.array(Order),
      cursor: until.optional(),
    }),
    Captured: z.discriminatedUnion('status', [
      z.strictObject({
        status: z.literal('captured'),
        order: Order,
        proof: captureSchema(),
      }),
      z.strictObject({
        status: z.literal('preconfirmed'),
        order: Order,
        transactionHash: bytes32Schema(),
      }),
    ]),
    CaptureUnknown: z.strictObject({
      status: z.literal('unknown'),
      order: Order,
      resolvedBy: z.enum(['worker', 'chain', 'window']),
      until,
    }),
    Voided: z.strictObject({ order: Order, spendableUntil: until.optional() }),
    Reauthorized: z.strictObject({ order: Order, payment: DraftedPayment }),
    RefundTaken: z.strictObject({ refund: Refund, order: Order }),
    RefundToSign: z.strictObject({ refund: Refund, payment: DraftedPayment }),
    RefundSigned: z.strictObject({ refund: Refund }),
    RefundList: z.strictObject({
      refunds: z.array(Refund),
      refunded: until,
      refundable: until,
    }),
    DraftedSubscription: z.strictObject({
      subscription: Subscription,
      permission: SpendPermission,
    }),
    SubscriptionList: z.strictObject({
      subscriptions: z.array(Subscription),
      cursor: until.optional(),
    }),
    SubscriptionAnswer: z.strictObject({ subscription: Subscription }),
    IssuedBuyerToken: z.strictObject({ buyerToken }),
    Charge: z.strictObject({ order: Order }),
    ChargeList: z.strictObject({
      charges: z.array(Order),
      cursor: until.optional(),
    }),
    Sending: z.strictObject({ suspended: z.boolean() }),
    ResealReport: z.strictObject({ resealed: z.int(), left: z.int() }),
    Probe: z.strictObject({ ok: z.literal(true) }),
    Problem: z.strictObject({
      type: z.string().regex(/^urn:countersign:problem:[a-zA-Z]+$/),
      title: z.string(),
      status: z.int(),
      detail: z.string(),
      reason: z.enum(Object.keys(problemTable)),
      field: z.string().optional(),
    }),
  }
}
