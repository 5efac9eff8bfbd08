import * as z from 'zod'
import { buyerEventSchema } from './eventSchemas.js'
import { decimalSchema } from './fieldSchemas.js'
import {
  captureSchema,
  createOrderSchemas,
  type OrderSchemaName,
} from './orderSchemas.js'
import { problemTable } from './problemTable.js'
import { createReportSchemas, type ReportSchemaName } from './reportSchemas.js'

/** Names of answers in the OpenAPI document. */
export type AnswerName =
  | OrderSchemaName
  | ReportSchemaName
  | 'BuyerEvent'
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
  | 'Problem'

export type AnswerSchemas = Readonly<Record<AnswerName, z.ZodType>>

export function createAnswerSchemas(): AnswerSchemas {
  const parts = createOrderSchemas()
  const { BuyerOrder, Order, Refund, DraftedPayment, Cancellation, Call } =
    parts
  const call = Call.optional()
  const until = decimalSchema()
  return {
    ...parts,
    ...createReportSchemas(),
    BuyerEvent: buyerEventSchema(BuyerOrder),
    PaymentToSign: z.strictObject({ payment: DraftedPayment }),
    CancellationToSign: z.strictObject({ cancellation: Cancellation }),
    CancellationTaken: z.strictObject({ order: BuyerOrder, call }),
    CancellationApproved: z.strictObject({ order: Order, call }),
    DraftedOrder: z.strictObject({
      order: Order,
      payment: DraftedPayment,
      buyerToken: z.string().regex(/^[0-9a-f]{64}$/),
    }),
    OrderList: z.strictObject({
      orders: z.array(Order),
      cursor: until.optional(),
    }),
    Captured: z.strictObject({
      status: z.literal('captured'),
      order: Order,
      proof: captureSchema(),
    }),
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
