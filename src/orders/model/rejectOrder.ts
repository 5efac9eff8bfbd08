import type { Hash } from 'viem'
import type {
  AttemptRecord,
  OrderReason,
  OrderRecord,
} from '../../store/types.js'
import { type Changes, moveOrder, withEvent } from './changes.js'
import { lastSecondOf } from './endsOf.js'
import { inState } from './moves.js'
import { isScheduled } from './scheduled.js'
import type { OrdersContext } from './types.js'

export type Refused = {
  reason: OrderReason
  /**
   * When the submitter tries again, in Unix seconds of the chain; absent if
   * never.
   */
  again?: bigint | undefined
  /** Now, in Unix milliseconds. */
  at: bigint
  /**
   * True when buyers' cancellations are sent without the merchant's approval.
   */
  relays: boolean
}

type Undecided = { order: OrderRecord; attempt: AttemptRecord }

/**
 * Ends a capture or cancellation that will not happen. Then applies a void or
 * cancellation that was requested meanwhile.
 */
export function rejectOrder(
  { order, attempt }: Undecided,
  { reason, again, at, relays }: Refused,
): Pick<Changes, 'orders' | 'events'> {
  const { state, requested } = order
  const isCancel =
    state === 'canceling' || (state !== 'capturing' && requested === 'cancel')
  // A subscription stays `canceling` until the revocation of its spend
  // permission is sent.
  const isTriedAgain = isCancel && isScheduled(order) && again !== undefined
  const isRepeated = state === 'stored' && order.reason === reason && again
  const fields: Partial<OrderRecord> = {
    reason,
    requested: isTriedAgain ? 'cancel' : undefined,
    sendDue: again,
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
      (requested === 'void' && relays && attempt.cancellation !== undefined))
  const next = isAsked ? ({ requested: 'cancel', sendDue: 0n } as const) : {}
  if (isGivenUp(order, relays)) {
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
  relays: boolean,
): boolean {
  const isSetAside = state === 'capturing' && requested === 'cancel' && !relays
  return requested === 'void' || isSetAside
}

/**
 * Makes the submitter send a new transaction for an order: its last one can no
 * longer decide the order, or was the approval of its spend permission. Sends
 * no capture if the order was voided meanwhile.
 */
export function reopenOrder(
  stored: Undecided,
  options: Pick<Refused, 'at' | 'relays'> & {
    /** The transaction that approved the spend permission. */
    approval?: { transactionHash: Hash; blockNumber: bigint } | undefined
  },
): Pick<Changes, 'orders' | 'events'> {
  const { order } = stored
  const { state, requested } = order
  if (!isInFlight(order)) return { orders: [], events: [] }
  if (state === 'voided')
    return { orders: [{ ...order, sendDue: 0n }], events: [] }
  if (isGivenUp(order, options.relays))
    return rejectOrder(stored, { ...options, reason: 'voided' })
  const kept = requested ?? (state === 'canceling' ? 'cancel' : 'capture')
  const { at, approval } = options
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
export function isRelaying({ policy }: Pick<OrdersContext, 'policy'>): boolean {
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
