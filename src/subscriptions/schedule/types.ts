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
  /** How often a failed charge is tried again in its period. @default 3 */
  retries?: number | undefined
  /**
   * Seconds from a failure to the next try. @default a fifth of the period, at
   * most a day
   */
  retryAfter?: bigint | undefined
}

/** The schedule's policy, with the margin from the policy of the orders. */
export type SettledSchedule = {
  retries: number
  retryAfter: bigint | undefined
  /** Nothing is sent in these last seconds of a period. */
  margin: bigint
}

/** What the record says about the scheduled charge of a subscription. */
export type ChargeFate =
  /** Sent, or about to be. */
  | { kind: 'sending' }
  | { kind: 'paid' }
  /** No transaction is sent until somebody requests the capture again. */
  | { kind: 'refused'; reason: OrderReason }
  /** Its period is over, or the merchant voided it. */
  | { kind: 'over'; isVoided: boolean }

/** What the schedule does next. */
export type ScheduleStep = {
  /** The subscription's row after this step. */
  row: SubscriptionRecord
  /** The period to charge now. */
  charge?: SpendPeriod | undefined
  /** Try the charge of `row.chargeId` again at this time. */
  retryAt?: bigint | undefined
  /** The event to report. */
  report?: PeriodReport | undefined
  /** True if the payer may have revoked: then search the chain for it. */
  isRevoked?: boolean | undefined
}

type PeriodReport = {
  type: 'subscriptionPastDue' | 'subscriptionUnpaid'
  /** Number of the period. */
  period: bigint
  reason: OrderReason
}
