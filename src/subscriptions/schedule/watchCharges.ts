import type { OrderRecord } from '../../store/types.js'
import { chargeOrderId } from './chargeIds.js'
import type { ChargeFate, ScheduleStep } from './types.js'

/** How many of a subscription's newest charges each step reads. */
export const newestCount = 20

/** Seconds between two searches for a revocation. */
const searchAgain = 60n

/**
 * Adapts a step of the schedule to charges that the merchant made with
 * `charge`. While such a charge is undecided, the subscription is due again in
 * a second. If one was refused because the permission is revoked, the step asks
 * for a search of the chain for the revocation.
 */
export function watchCharges(
  step: ScheduleStep,
  {
    newest,
    now,
  }: {
    /** The newest charges, the newest first. */
    newest: readonly OrderRecord[]
    /** Time of the newest block, Unix seconds. */
    now: bigint
  },
): ScheduleStep {
  const { row } = step
  const scheduled = row.chargeId && chargeOrderId(row.id, row.chargeId)
  const isSending = newest.some(
    (charge) => charge.id !== scheduled && fateOf(charge).kind === 'sending',
  )
  if (showsRevocation(newest))
    return { ...step, row: dueBy(row, now + searchAgain), isRevoked: true }
  return isSending ? { ...step, row: dueBy(row, now + 1n) } : step
}

/**
 * True if a charge was refused because the permission is revoked, and no later
 * charge was paid.
 */
function showsRevocation(newest: readonly OrderRecord[]): boolean {
  const telling = newest.find(
    ({ state, reason }) => state === 'captured' || reason === 'revoked',
  )
  return telling !== undefined && telling.state !== 'captured'
}

function dueBy(row: ScheduleStep['row'], latest: bigint): ScheduleStep['row'] {
  const { due = latest } = row
  return { ...row, due: due < latest ? due : latest }
}

/** Derives the state of a charge from its order. */
export function fateOf({
  state,
  sendDue,
  reason,
}: Pick<OrderRecord, 'state' | 'sendDue' | 'reason'>): ChargeFate {
  switch (state) {
    case 'captured':
      return { kind: 'paid' }
    case 'capturing':
      return { kind: 'sending' }
    case 'stored':
      return sendDue !== undefined || reason === undefined
        ? { kind: 'sending' }
        : { kind: 'refused', reason }
    default:
      return { kind: 'over', isVoided: state === 'voided' }
  }
}
