import type { OrderReason, SubscriptionRecord } from '../../store/types.js'
import type { SpendPeriod } from '../permission/types.js'

/**
 * The state of a subscription.
 *
 * - `drafted`: waits for the payer's signature.
 * - `active`: charged each period. A charge may still be in flight.
 * - `pastDue`: the newest charge failed, or a period passed without one. The
 *   schedule tries again, or charges the next period.
 * - `unpaid`: the schedule gave up, and charges nothing until you call
 *   `restart`. Your own `charge` still works.
 * - `canceling`: the revocation is sent or about to be. `canceled`: the chain
 *   shows it, or nothing was signed.
 * - `ended`: the last period is over.
 */
export type SubscriptionState =
  | 'drafted'
  | 'active'
  | 'pastDue'
  | 'unpaid'
  | 'canceling'
  | 'canceled'
  | 'ended'

/** How the schedule charges; each field has a default. */
export type SchedulePolicy = {
  /** How often a failed charge is tried again within its period. @default 3 */
  retries?: number | undefined
  /**
   * Seconds from a failed charge to its next try. @default a fifth of the
   * period, at most a day
   */
  retryAfter?: bigint | undefined
}

/**
 * The schedule's settings with their defaults, and the safety margin of the
 * orders.
 */
export type SettledSchedule = {
  retries: number
  retryAfter: bigint | undefined
  /**
   * Length in seconds of the end of a period, in which no charge is sent any
   * more.
   */
  margin: bigint
}

/** State of a subscription's scheduled charge, according to the database. */
export type ChargeFate =
  /** A worker has sent the charge, or will send it. */
  | { kind: 'sending' }
  | { kind: 'paid' }
  /**
   * The charge was refused. No worker sends it until its capture is requested
   * again.
   */
  | { kind: 'refused'; reason: OrderReason }
  /** The charge's period has ended, or the merchant voided the charge. */
  | { kind: 'over'; isVoided: boolean }

/** What the schedule does next. */
export type ScheduleStep = {
  /** The subscription's row after this step. */
  row: SubscriptionRecord
  /** Create a charge for this period now. */
  charge?: SpendPeriod | undefined
  /** Unix seconds at which to try the charge `row.chargeId` again. */
  retryAt?: bigint | undefined
  /** The event to append to the subscription's events. */
  report?: PeriodReport | undefined
  /**
   * True if the payer may have revoked the permission, so the chain must be
   * searched for the revocation.
   */
  isRevoked?: boolean | undefined
}

type PeriodReport = {
  type: 'subscriptionPastDue' | 'subscriptionUnpaid'
  /** Number of the period. */
  period: bigint
  reason: OrderReason
}
