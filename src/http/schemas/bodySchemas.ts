import type { Address, Hex } from 'viem'
import * as z from 'zod'
import type { PrimaryType, SignedCancellation } from '../../core/types.js'
import type { AnswerAt } from '../../orders/engine.js'
import type { RefundReason } from '../../orders/index.js'
import {
  addressSchema,
  anyPrimaryTypeSchema,
  bytes32Schema,
  decimalSchema,
  domainSchema,
  placeSchema,
  primaryTypeSchema,
  refundReasonSchema,
  signatureSchema,
  termsSchema,
} from './fieldSchemas.js'

export type DraftBody = {
  amount?: string | undefined
  atMost?: string | undefined
  payer?: Address | undefined
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  window?: string | undefined
  primaryType?: PrimaryType | undefined
  metadata?: Record<string, unknown> | undefined
}

export type CaptureBody = {
  amount?: string | undefined
  answerAt?: AnswerAt | undefined
  preconfirmedUpTo?: string | undefined
}

export type RefundBody = {
  refundId: string
  amount?: string | undefined
  reason?: RefundReason | undefined
}

export type SubscriptionDraftBody = {
  account: Address
  amount?: string | undefined
  allowance?: string | undefined
  period: string
  start?: string | undefined
  end?: string | undefined
  periods?: number | undefined
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  metadata?: Record<string, unknown> | undefined
}

export type ChargeBody = { chargeId: string; amount?: string | undefined }

/** Schemas of request bodies, by their name in the OpenAPI document. */
export type BodySchemas = {
  SignedPayment: z.ZodType
  SignedCancellation: z.ZodType<SignedCancellation>
  OrderDraft: z.ZodType<DraftBody>
  CaptureRequest: z.ZodType<CaptureBody | undefined>
  RefundRequest: z.ZodType<RefundBody>
  RefundSignature: z.ZodType<{ signature: Hex }>
  Reauthorization: z.ZodType<{ window?: string | undefined } | undefined>
  ReconciliationStart: z.ZodType<{ fromBlock?: string | undefined } | undefined>
  SubscriptionDraft: z.ZodType<SubscriptionDraftBody>
  PermissionSignature: z.ZodType<{ signature: Hex }>
  ChargeRequest: z.ZodType<ChargeBody>
  Nothing: z.ZodType<Record<string, never> | undefined>
}

export function createBodySchemas(): BodySchemas {
  const address = addressSchema()
  const decimal = decimalSchema()
  const signature = signatureSchema()
  return {
    SignedPayment: z.strictObject({
      primaryType: anyPrimaryTypeSchema(),
      domain: domainSchema(),
      message: z.strictObject({
        from: address,
        to: address,
        value: decimal,
        validAfter: decimal,
        validBefore: decimal,
        nonce: bytes32Schema(),
      }),
      checkout: termsSchema().optional(),
      signature,
    }),
    SignedCancellation: z.strictObject({
      primaryType: z.literal('CancelAuthorization'),
      domain: domainSchema(),
      message: z.strictObject({ authorizer: address, nonce: bytes32Schema() }),
      signature,
    }),
    OrderDraft: z.strictObject({
      amount: z.string().max(100).optional(),
      atMost: z.string().max(100).optional(),
      payer: address.optional(),
      chainId: z.int().positive().optional(),
      token: address.optional(),
      recipient: address.optional(),
      window: decimal.optional(),
      primaryType: primaryTypeSchema().optional(),
      metadata: metadataSchema().optional(),
    }),
    CaptureRequest: z
      .strictObject({
        amount: z.string().max(100).optional(),
        answerAt: z.enum(['preconfirmed', 'included']).optional(),
        preconfirmedUpTo: z.string().max(100).optional(),
      })
      .optional(),
    RefundRequest: z.strictObject({
      refundId: z.string().min(1).max(128),
      amount: z.string().max(100).optional(),
      reason: refundReasonSchema().optional(),
    }),
    RefundSignature: z.strictObject({ signature }),
    Reauthorization: z.strictObject({ window: decimal.optional() }).optional(),
    ReconciliationStart: z
      .strictObject({ fromBlock: placeSchema().optional() })
      .optional(),
    SubscriptionDraft: z.strictObject({
      account: address,
      amount: z.string().max(100).optional(),
      allowance: z.string().max(100).optional(),
      period: placeSchema(),
      start: placeSchema().optional(),
      end: placeSchema().optional(),
      periods: z.int().positive().optional(),
      chainId: z.int().positive().optional(),
      token: address.optional(),
      recipient: address.optional(),
      metadata: metadataSchema().optional(),
    }),
    PermissionSignature: z.strictObject({ signature }),
    ChargeRequest: z.strictObject({
      chargeId: z.string().min(1).max(63),
      amount: z.string().max(100).optional(),
    }),
    Nothing: z.strictObject({}).optional(),
  }
}

/**
 * Accepts any value and returns it unchanged. `z.record` would silently drop a
 * member named `__proto__`. That the value is a JSON object is checked later,
 * by `draft`.
 */
function metadataSchema(): z.ZodType<Record<string, unknown>> {
  const schema = z.unknown().meta({ type: 'object' })
  return schema as z.ZodType<Record<string, unknown>>
}
