import type { Hash } from 'viem'
import type {
  AttemptRecord,
  OrderReason,
  OrderRecord,
} from '../../store/types.js'
import { type Changes, moveOrder, withEvent } from './changes.js'
import { lastSecondOf } from './endsOf.js'
import { inState } from './moves.js'
import { traitsOf } from './roles.js'
import type { SettledPolicy } from './types.js'

export type Refused = {
  reason: OrderReason
  /**
   * When the submitter tries again, in Unix seconds of the chain; absent if
   * never.
   */
  again?: bigint | undefined
}

type Relays = Pick<SettledPolicy, 'relayCancellations'>

type Rules = { at: bigint; policy: Relays }

type Undecided = { order: OrderRecord; attempt: AttemptRecord }

/**
 * Ends a capture or cancellation that will not happen. Then applies a void or
 * cancellation that was requested meanwhile.
 */
export function rejectOrder(
  { order, attempt }: Undecided,
  { reason, again }: Refused,
  { at, policy }: Rules,
): Pick<Changes, 'orders' | 'events'> {
  const { state, requested } = order
  const isCancel =
    state === 'canceling' || (state !== 'capturing' && requested === 'cancel')
  // A subscription stays `canceling` until the revocation of its spend
  // permission is sent.
  const isTriedAgain =
    isCancel && traitsOf(order).isScheduled && again !== undefined
  const isRepeated = state === 'stored' && order.reason === reason && again
  const fields: Partial<OrderRecord> = {
    reason,
    requested: isTriedAgain ? 'cancel' : undefined,
    sendDue: again,
    // Another claim took all that this one could. Its transaction must not be
    // found later as the proof of this claim, too.
    ...(reason === 'nothingToClaim' ? { lookDue: undefined } : {}),
  }
  // Report a repeated failure with the same reason only once.
  if (isRepeated) return { orders: [{ ...order, ...fields }], events: [] }
  const rejected = withEvent(
    order,
    {
      type: isCancel ? 'cancelRejected' : 'captureRejected',
      at,
      data: { reason },
    },
    fields,
  )
  if (!isInFlight(order) || state === 'voided')
    return { orders: [rejected.order], events: [rejected.event] }
  const isAsked =
    state === 'capturing' &&
    (requested === 'cancel' ||
      (requested === 'void' &&
        isRelaying({ policy }) &&
        attempt.cancellation !== undefined))
  const next = isAsked ? ({ requested: 'cancel', sendDue: 0n } as const) : {}
  if (isGivenUp(order, policy)) {
    const dues = { lookDue: lastSecondOf(attempt), sendDue: undefined }
    const event = { type: 'voided', at, data: {} } as const
    const voided = moveOrder(rejected.order, 'refused', 'voided', event, {
      ...dues,
      ...next,
    })
    return { orders: [voided.order], events: [rejected.event, voided.event] }
  }
  const open = inState(rejected.order, 'refused', 'stored')
  return {
    orders: [{ ...open, ...next }],
    events: [rejected.event],
  }
}

/**
 * True when an order becomes voided if its transaction in flight fails: the
 * merchant voided it, or the buyer canceled and we need approval to send that.
 */
export function isGivenUp(
  { state, requested }: Pick<OrderRecord, 'state' | 'requested'>,
  policy: Relays,
): boolean {
  const isSetAside =
    state === 'capturing' && requested === 'cancel' && !isRelaying({ policy })
  return requested === 'void' || isSetAside
}

/**
 * True when no transaction may capture the order again: it was voided, is to be
 * voided, or was captured after that.
 */
export function isVoid({
  state,
  unexpected,
  requested,
}: Pick<OrderRecord, 'state' | 'unexpected' | 'requested'>): boolean {
  return state === 'voided' || unexpected || requested === 'void'
}

export type Freed = {
  /** The transaction that approved the spend permission of a charge. */
  approval?: { transactionHash: Hash; blockNumber: bigint } | undefined
}

/**
 * Makes the submitter send a new transaction for an order: its last one can no
 * longer decide the order, or was the approval of its spend permission. Sends
 * no capture if the order was voided meanwhile.
 */
export function reopenOrder(
  stored: Undecided,
  { approval }: Freed,
  rules: Rules,
): Pick<Changes, 'orders' | 'events'> {
  const { order } = stored
  const { state, requested } = order
  if (!isInFlight(order)) return { orders: [], events: [] }
  if (state === 'voided')
    return { orders: [{ ...order, sendDue: 0n }], events: [] }
  if (isGivenUp(order, rules.policy))
    return rejectOrder(stored, { reason: 'voided' }, rules)
  const kept = requested ?? (state === 'canceling' ? 'cancel' : 'capture')
  const { at } = rules
  const reopened = withEvent(
    inState(order, 'freed', 'stored'),
    approval
      ? {
          type: 'permissionApproved',
          at,
          data: {
            transactionHash: approval.transactionHash,
            blockNumber: String(approval.blockNumber),
          },
        }
      : { type: 'reopened', at, data: {} },
    { requested: kept, sendDue: 0n },
  )
  return { orders: [reopened.order], events: [reopened.event] }
}

/** True when buyers' cancellations are sent without the merchant's approval. */
export function isRelaying({ policy }: { policy: Relays }): boolean {
  return policy.relayCancellations === 'always'
}

/**
 * True while our own transaction will decide the order. This includes voided
 * orders whose cancellation we are sending.
 */
export function isInFlight({
  state,
  requested,
}: Pick<OrderRecord, 'state' | 'requested'>): boolean {
  const isCanceled = state === 'voided' && requested === 'cancel'
  return isCanceled || state === 'capturing' || state === 'canceling'
}
