import type { OrderReason, SubscriptionRecord } from '../../store/types.js'
import { findPeriod } from '../permission/periodAt.js'
import type {
  SpendPeriod,
  SpendPermissionMessage,
} from '../permission/types.js'
import { chargeIdOf } from './chargeIds.js'
import type { ChargeFate, ScheduleStep, SettledSchedule } from './types.js'

export type ScheduleFacts = {
  row: SubscriptionRecord
  message: SpendPermissionMessage
  /** State of the charge `row.chargeId`. Absent if there is no such charge. */
  fate: ChargeFate | undefined
  /** Time of the newest block, Unix seconds. */
  now: bigint
  policy: SettledSchedule
}

/**
 * Plans the next step of a subscription's schedule. Each period is charged
 * once, when it begins. A failed charge is retried only within its own period.
 * While the last charge is neither paid nor given up, no further period is
 * charged.
 */
export function planSchedule(facts: ScheduleFacts): ScheduleStep {
  const { row, fate } = facts
  if (row.price === undefined || row.state === 'unpaid') return stop(row)
  if (row.chargeId === undefined) return planPeriod(facts)
  switch (fate?.kind) {
    case 'paid':
      return planPeriod({ ...facts, row: closeCharge(row, 'active') })
    case 'refused':
      return planRefused(facts, fate.reason)
    case 'over':
      return fate.isVoided
        ? planPeriod({ ...facts, row: closeCharge(row, 'active') })
        : skip(facts, 'expired')
    default:
      return { row: { ...row, due: facts.now + 1n } }
  }
}

/** Charges the current period, or waits for the next one. */
function planPeriod(facts: ScheduleFacts): ScheduleStep {
  const { row, message, now, policy } = facts
  const period = findPeriod(message, now)
  if (!period)
    return now < message.start
      ? { row: { ...row, due: message.start } }
      : stop(row)
  if (period.number <= row.period) return { row: waitFor(row, period, message) }
  if (now + policy.margin >= period.end)
    return {
      row: waitFor(
        { ...row, period: period.number, state: 'pastDue', tries: 0 },
        period,
        message,
      ),
      report: {
        type: 'subscriptionPastDue',
        period: period.number,
        reason: 'deadlinePassed',
      },
    }
  const chargeId = chargeIdOf(period.number)
  const missed = period.number - row.period - 1n
  const charged: SubscriptionRecord = {
    ...row,
    period: period.number,
    chargeId,
    tries: 0,
    state: missed > 0n ? 'pastDue' : row.state,
    due: now + 1n,
  }
  return {
    row: charged,
    charge: period,
    ...(missed > 0n
      ? {
          report: {
            type: 'subscriptionPastDue',
            period: period.number - 1n,
            reason: 'deadlinePassed',
          },
        }
      : {}),
  }
}

/**
 * Reasons of a failed charge for which a retry in the same period would fail
 * too.
 */
const finalReasons: readonly OrderReason[] = [
  'allowanceUsed',
  'deadlinePassed',
  'expired',
  'consumed',
]

/**
 * Reasons of a failed charge that are not the payer's fault. The schedule then
 * continues with the next period instead of stopping as `unpaid`.
 */
const othersReasons: readonly OrderReason[] = [
  ...finalReasons,
  'paused',
  'recipientBlocked',
  'feeTooHigh',
  'sealBroken',
  'signingDeclined',
  'walletRefused',
  'replaced',
  'wrongSubmitter',
]

function planRefused(facts: ScheduleFacts, reason: OrderReason): ScheduleStep {
  const { row, message, now, policy } = facts
  // A revoked permission never becomes valid again.
  if (reason === 'revoked') return giveUp(row, reason)
  const period = findPeriod(message, now)
  const pause = policy.retryAfter ?? usualPause(message)
  const isOpen =
    period?.number === row.period && now + pause + policy.margin < period.end
  const isRetried =
    isOpen && row.tries < policy.retries && !finalReasons.includes(reason)
  if (!isRetried)
    return othersReasons.includes(reason)
      ? skip(facts, reason)
      : giveUp(row, reason)
  const retryAt = now + pause
  const isFirst = row.tries === 0
  return {
    row: { ...row, state: 'pastDue', tries: row.tries + 1, due: retryAt },
    retryAt,
    ...(isFirst
      ? {
          report: { type: 'subscriptionPastDue', period: row.period, reason },
        }
      : {}),
  }
}

const day = 86_400n

function usualPause({ period }: SpendPermissionMessage): bigint {
  const share = period / 5n
  return share > day ? day : share + 1n
}

/**
 * Ends the charge of this period unpaid, and continues with the next period.
 */
function skip(facts: ScheduleFacts, reason: OrderReason): ScheduleStep {
  const { row } = facts
  const step = planPeriod({ ...facts, row: closeCharge(row, 'pastDue') })
  return row.tries > 0
    ? step
    : {
        ...step,
        report: { type: 'subscriptionPastDue', period: row.period, reason },
      }
}

function giveUp(row: SubscriptionRecord, reason: OrderReason): ScheduleStep {
  return {
    row: { ...closeCharge(row, 'unpaid'), due: undefined },
    report: { type: 'subscriptionUnpaid', period: row.period, reason },
  }
}

function closeCharge(
  row: SubscriptionRecord,
  state: SubscriptionRecord['state'],
): SubscriptionRecord {
  return { ...row, state, chargeId: undefined, tries: 0 }
}

function waitFor(
  row: SubscriptionRecord,
  period: SpendPeriod,
  message: SpendPermissionMessage,
): SubscriptionRecord {
  return { ...row, due: period.end < message.end ? period.end : undefined }
}

function stop(row: SubscriptionRecord): ScheduleStep {
  return { row: { ...row, due: undefined } }
}
