import type { OrderRecord } from '../../store/types.js'

/**
 * What a row in the table of orders is: a sale, the refund of one, the spend
 * permission that the payer of a subscription signed, or one charge under it.
 */
export type Role = 'sale' | 'refund' | 'permission' | 'charge'

/** What differs between the roles, besides their moves. */
export type RoleTraits = {
  /** A buyer signs at a checkout, may cancel, and may sign again. */
  hasBuyer: boolean
  /** The merchant pays: it is sent whatever `policy.capture` says. */
  isPaidByUs: boolean
  /** A subscription's schedule tries it again and ends it. */
  isScheduled: boolean
}

const traits: Readonly<Record<Role, RoleTraits>> = {
  sale: { hasBuyer: true, isPaidByUs: false, isScheduled: false },
  refund: { hasBuyer: false, isPaidByUs: true, isScheduled: false },
  // Is never captured: each charge is a row of its own.
  permission: { hasBuyer: false, isPaidByUs: false, isScheduled: true },
  charge: { hasBuyer: false, isPaidByUs: false, isScheduled: true },
}

type Row = Pick<OrderRecord, 'refundOf' | 'subscriptionId' | 'chargeId'>

export function roleOf({ refundOf, subscriptionId, chargeId }: Row): Role {
  if (refundOf !== undefined) return 'refund'
  if (subscriptionId === undefined) return 'sale'
  return chargeId === undefined ? 'permission' : 'charge'
}

export function traitsOf(row: Row): RoleTraits {
  return traits[roleOf(row)]
}
