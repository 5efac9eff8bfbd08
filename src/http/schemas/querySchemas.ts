import type { Address, Hash } from 'viem'
import * as z from 'zod'
import {
  addressSchema,
  bytes32Schema,
  placeSchema,
  stateSchema,
} from './fieldSchemas.js'

export type ListQuery = PageQuery & {
  state?: string | undefined
  payer?: Address | undefined
  chainId?: string | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  transaction?: Hash | undefined
}

export type AuditQuery = {
  fromBlock?: string | undefined
  toBlock?: string | undefined
}

export type LedgerFormat = 'csv' | 'jsonLines' | 'hledger'

export type LedgerQuery = {
  format?: LedgerFormat | undefined
  from?: string | undefined
  to?: string | undefined
  transfers?: 'true' | 'false' | undefined
}

export type EventsQuery = {
  after?: string | undefined
  orderId?: string | undefined
}

export type PageQuery = {
  before?: string | undefined
  limit?: string | undefined
}

export type SubscriptionsQuery = PageQuery & { payer?: Address | undefined }

type RefundPaymentQuery = {
  /** Length of the payment's validity window, in seconds. */
  window?: string | undefined
}

/** Schemas of query strings. All values are text. */
export type QuerySchemas = {
  list: z.ZodType<ListQuery>
  audit: z.ZodType<AuditQuery>
  ledger: z.ZodType<LedgerQuery>
  events: z.ZodType<EventsQuery>
  refundPayment: z.ZodType<RefundPaymentQuery>
  subscriptions: z.ZodType<SubscriptionsQuery>
  charges: z.ZodType<PageQuery>
}

export function createQuerySchemas(): QuerySchemas {
  const address = addressSchema().optional()
  const place = placeSchema().optional()
  const { options } = stateSchema()
  const states = options.join('|')
  const page = {
    before: place,
    limit: z
      .string()
      .regex(/^([1-9]|[1-9][0-9]|1[0-9]{2}|200)$/, 'a number from 1 to 200')
      .optional(),
  }
  return {
    list: z.strictObject({
      state: z
        .string()
        .regex(
          new RegExp(`^(${states})(,(${states}))*$`),
          `one or more of ${options.join(', ')}, with commas between them`,
        )
        .optional(),
      payer: address,
      chainId: z
        .string()
        .regex(/^[1-9][0-9]{0,15}$/, 'a chain id, such as 8453')
        .optional(),
      token: address,
      recipient: address,
      transaction: bytes32Schema().optional(),
      ...page,
    }),
    audit: z.strictObject({ fromBlock: place, toBlock: place }),
    ledger: z.strictObject({
      format: z.enum(['csv', 'jsonLines', 'hledger']).optional(),
      from: place,
      to: place,
      transfers: z.enum(['true', 'false']).optional(),
    }),
    events: z.strictObject({
      after: place,
      orderId: z.string().min(1).max(128).optional(),
    }),
    refundPayment: z.strictObject({ window: place }),
    subscriptions: z.strictObject({ payer: address, ...page }),
    charges: z.strictObject(page),
  }
}
