import type { OrderRecord, OrderRole } from '../../store/types.js'

/** What differs between the roles, besides their moves. */
export type RoleTraits = {
  /** A buyer signs at a checkout, may cancel, and may sign again. */
  hasBuyer: boolean
  /** The merchant pays: it is sent whatever `policy.capture` says. */
  isPaidByUs: boolean
  /**
   * A subscription's schedule tries it again and ends it; for a movement, the
   * loop of channels does.
   */
  isScheduled: boolean
}

const traits: Readonly<Record<OrderRole, RoleTraits>> = {
  sale: { hasBuyer: true, isPaidByUs: false, isScheduled: false },
  refund: { hasBuyer: false, isPaidByUs: true, isScheduled: false },
  // Is never captured: each charge is a row of its own.
  permission: { hasBuyer: false, isPaidByUs: false, isScheduled: true },
  charge: { hasBuyer: false, isPaidByUs: false, isScheduled: true },
  // Never an income to fulfil: requests are answered by vouchers.
  movement: { hasBuyer: false, isPaidByUs: true, isScheduled: true },
}

export function traitsOf({ role }: Pick<OrderRecord, 'role'>): RoleTraits {
  return traits[role]
}
