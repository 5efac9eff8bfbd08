import * as z from 'zod'
import type { Answers } from './answerTypes.js'
import {
  addressSchema,
  bytes32Schema,
  decimalSchema,
  destinationFields,
  stateSchema,
} from './fieldSchemas.js'

export type ReportSchemaName = 'ReconciliationReport' | 'AuditReport' | 'Health'

type Report<name extends ReportSchemaName> = z.ZodType<Answers[name]>

export function createReportSchemas(): Readonly<{
  [name in ReportSchemaName]: Report<name>
}> {
  return {
    ReconciliationReport: z.strictObject({
      destinations: z.array(reconciliationSchema()),
    }),
    AuditReport: z.strictObject({
      ok: z.boolean(),
      destinations: z.array(auditSchema()),
    }),
    Health: healthSchema(),
  }
}

function reconciliationSchema(): z.ZodType<
  Answers['ReconciliationReport']['destinations'][number]
> {
  const count = z.int()
  const block = decimalSchema()
  return z.strictObject({
    destination: z.strictObject(destinationFields()),
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

function auditSchema(): z.ZodType<
  Answers['AuditReport']['destinations'][number]
> {
  const block = decimalSchema()
  const units = decimalSchema()
  const sum = z.strictObject({ count: z.int(), value: units })
  return z.strictObject({
    destination: z.strictObject(destinationFields()),
    fromBlock: block,
    toBlock: block,
    chain: sum,
    captured: sum,
    unmatched: sum,
    refunded: sum,
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

function healthSchema(): Report<'Health'> {
  const block = decimalSchema().optional()
  const putAside = z.array(
    z.strictObject({
      what: z.string(),
      subscriptionId: z.string().optional(),
      reason: z.string(),
      since: decimalSchema(),
    }),
  )
  const fault = z
    .enum([
      'unreachable',
      'timedOut',
      'rateLimited',
      'refused',
      'malformedAnswer',
      'noSafeBlock',
      'behindDatabase',
      'otherChain',
      'walletRemoved',
      'captureKey',
    ])
    .optional()
  return z.strictObject({
    identity: z.string().optional(),
    suspended: z.boolean(),
    sealKeys: z.record(z.string(), z.int()),
    chains: z.array(
      z.strictObject({
        chainId: z.int(),
        block,
        time: decimalSchema().optional(),
        fault,
      }),
    ),
    destinations: z.array(
      z.strictObject({
        ...destinationFields(),
        counts: z.partialRecord(stateSchema(), z.int()),
        reconciledTo: block,
        // The lag is negative when the node is behind the last reconciled
        // block.
        lag: z
          .string()
          .regex(/^-?(0|[1-9][0-9]*)$/)
          .optional(),
        atRisk: decimalSchema(),
        servedUnpaid: decimalSchema(),
        putAside,
      }),
    ),
    submitters: z.array(
      z.strictObject({
        chainId: z.int(),
        account: addressSchema(),
        balance: decimalSchema().optional(),
        gasPrice: decimalSchema().optional(),
        openTransactions: z.int(),
        feeTooHigh: z.int(),
        nextDeadline: decimalSchema().optional(),
        nextNonce: z.int(),
        lease: z
          .strictObject({
            owner: z.string(),
            thisInstance: z.boolean(),
            until: decimalSchema(),
          })
          .optional(),
        putAside,
        fault,
      }),
    ),
  })
}
