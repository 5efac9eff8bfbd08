import * as z from 'zod'
import {
  addressSchema,
  bytes32Schema,
  bytesSchema,
  decimalSchema,
  domainSchema,
  finalitySchema,
  primaryTypeSchema,
  stateSchema,
} from './fieldSchemas.js'
import { problemTable } from './problemTable.js'

/** What is answered; each a name in the OpenAPI document. */
export type AnswerName =
  | 'BuyerOrder'
  | 'Order'
  | 'DraftedPayment'
  | 'Cancellation'
  | 'Call'
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
  | 'ReconciliationReport'
  | 'AuditReport'
  | 'Health'
  | 'Problem'

export type AnswerSchemas = Readonly<Record<AnswerName, z.ZodType>>

export function createAnswerSchemas(): AnswerSchemas {
  const parts = createParts()
  const { BuyerOrder, Order, DraftedPayment, Cancellation, Call } = parts
  const call = Call.optional()
  const until = decimalSchema()
  return {
    ...parts,
    ...createReports(),
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

type PartName =
  | 'BuyerOrder'
  | 'Order'
  | 'DraftedPayment'
  | 'Cancellation'
  | 'Call'

function createParts(): Readonly<Record<PartName, z.ZodType>> {
  const address = addressSchema()
  const nonce = bytes32Schema()
  const seconds = decimalSchema()
  return {
    Order: orderSchema(),
    BuyerOrder: z.strictObject({
      amount: z.string(),
      token: address,
      recipient: address,
      window: z.strictObject({ validAfter: seconds, validBefore: seconds }),
      state: stateSchema(),
      transaction: z
        .strictObject({ hash: bytes32Schema(), finality: finalitySchema() })
        .nullable(),
    }),
    DraftedPayment: z.strictObject({
      primaryType: primaryTypeSchema(),
      domain: domainSchema(),
      message: z.strictObject({
        from: address.optional(),
        to: address,
        value: decimalSchema(),
        validAfter: seconds,
        validBefore: seconds,
        nonce,
      }),
    }),
    Cancellation: z.strictObject({
      primaryType: z.literal('CancelAuthorization'),
      domain: domainSchema(),
      message: z.strictObject({ authorizer: address, nonce }),
    }),
    Call: z.strictObject({ to: address, data: bytesSchema() }),
  }
}

function orderSchema(): z.ZodType {
  const seconds = decimalSchema()
  return z.strictObject({
    ...scopeFields(),
    id: z.string(),
    state: stateSchema(),
    attempt: z.int(),
    nonce: bytes32Schema(),
    payer: addressSchema().optional(),
    amount: z.string(),
    value: decimalSchema(),
    primaryType: primaryTypeSchema(),
    validAfter: seconds,
    validBefore: seconds,
    spendableUntil: seconds.optional(),
    wish: z.enum(['capture', 'void', 'cancel']).optional(),
    reason: z.string().optional(),
    held: z.boolean(),
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
  })
}

function captureSchema(): z.ZodType {
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

function scopeFields(): Record<'chainId' | 'token' | 'recipient', z.ZodType> {
  return {
    chainId: z.int(),
    token: addressSchema(),
    recipient: addressSchema(),
  }
}

type ReportName = 'ReconciliationReport' | 'AuditReport' | 'Health'

function createReports(): Readonly<Record<ReportName, z.ZodType>> {
  return {
    ReconciliationReport: z.strictObject({
      scopes: z.array(reconciliationSchema()),
    }),
    AuditReport: z.strictObject({
      ok: z.boolean(),
      scopes: z.array(auditSchema()),
    }),
    Health: healthSchema(),
  }
}

function reconciliationSchema(): z.ZodType {
  const count = z.int()
  const block = decimalSchema()
  return z.strictObject({
    scope: z.strictObject(scopeFields()),
    fromBlock: block,
    toBlock: block,
    captured: count,
    canceled: count,
    consumed: count,
    unexpected: count,
    overpaid: count,
    unmatched: count,
  })
}

function auditSchema(): z.ZodType {
  const block = decimalSchema()
  const units = decimalSchema()
  const sum = z.strictObject({ count: z.int(), value: units })
  return z.strictObject({
    scope: z.strictObject(scopeFields()),
    fromBlock: block,
    toBlock: block,
    chain: sum,
    captured: sum,
    unmatched: sum,
    differences: z.array(
      z.strictObject({
        transactionHash: bytes32Schema(),
        logIndex: z.int(),
        blockNumber: block,
        orderId: z.string().optional(),
        onChain: units.optional(),
        onRecord: units.optional(),
      }),
    ),
  })
}

function healthSchema(): z.ZodType {
  const block = decimalSchema().optional()
  const fault = z.string().optional()
  return z.strictObject({
    identity: z.string().optional(),
    suspended: z.boolean(),
    chains: z.array(
      z.strictObject({
        chainId: z.int(),
        block,
        time: decimalSchema().optional(),
        fault,
      }),
    ),
    scopes: z.array(
      z.strictObject({
        ...scopeFields(),
        counts: z.partialRecord(stateSchema(), z.int()),
        reconciledTo: block,
        // Negative where the node is behind what was reconciled.
        lag: z
          .string()
          .regex(/^-?(0|[1-9][0-9]*)$/)
          .optional(),
      }),
    ),
    lanes: z.array(
      z.strictObject({
        chainId: z.int(),
        account: addressSchema(),
        balance: decimalSchema().optional(),
        gasPrice: decimalSchema().optional(),
        openTransactions: z.int(),
        nextNonce: z.int(),
        fault,
      }),
    ),
  })
}
