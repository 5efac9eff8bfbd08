import * as z from 'zod'
import type { SubscriptionState } from '../../subscriptions/schedule/types.js'
import type { Answers } from './answerTypes.js'
import {
  addressSchema,
  bytesSchema,
  decimalSchema,
  destinationFields,
  domainSchema,
} from './fieldSchemas.js'

type SubscriptionSchemas = {
  SpendPermission: z.ZodType<Answers['SpendPermission']>
  Subscription: z.ZodType<Answers['Subscription']>
  BuyerSubscription: z.ZodType<Answers['BuyerSubscription']>
}

export type SubscriptionSchemaName = keyof SubscriptionSchemas

/** All states of subscriptions. The compiler checks that none is missing. */
const states: Readonly<Record<SubscriptionState, SubscriptionState>> = {
  drafted: 'drafted',
  active: 'active',
  pastDue: 'pastDue',
  unpaid: 'unpaid',
  canceling: 'canceling',
  canceled: 'canceled',
  ended: 'ended',
}

/**
 * Creates the schemas of subscriptions. No schema has a member for a signature,
 * so no answer can contain one.
 */
export function createSubscriptionSchemas(
  charge: z.ZodType<Answers['BuyerOrder']>,
): Readonly<SubscriptionSchemas> {
  const permission = permissionSchema()
  const shown = {
    ...destinationFields(),
    id: z.string(),
    state: z.enum(states),
    payer: addressSchema(),
    permission,
    amount: z.string().optional(),
    period: decimalSchema(),
    due: decimalSchema().optional(),
  }
  return {
    SpendPermission: permission,
    BuyerSubscription: z.strictObject({ ...shown, charges: z.array(charge) }),
    Subscription: z.strictObject({
      ...shown,
      metadata: z.record(z.string(), z.unknown()),
      createdAt: decimalSchema(),
    }),
  }
}

function permissionSchema(): SubscriptionSchemas['SpendPermission'] {
  const address = addressSchema()
  const seconds = decimalSchema()
  return z.strictObject({
    primaryType: z.literal('SpendPermission'),
    domain: domainSchema(),
    message: z.strictObject({
      account: address,
      spender: address,
      token: address,
      allowance: decimalSchema(),
      period: seconds,
      start: seconds,
      end: seconds,
      salt: decimalSchema(),
      extraData: bytesSchema(),
    }),
  })
}
