import {
  type Changes,
  dropPreconfirmed,
  moveOrder,
  tellOrder,
} from '../ledger/changes.js'
import { lastSecondOf } from '../ledger/findEvidence.js'
import type { AttemptRecord, OrderRecord } from '../store/types.js'

export type Refused = {
  reason: string
  /** When the lane tries again, Unix seconds of the chain. */
  again?: bigint | undefined
  /** Unix milliseconds. */
  at: bigint
}

/**
 * An order whose capture or cancellation will not happen as it stands. What was
 * wished for in between is applied. Pure.
 */
export function rejectOrder(
  { order, attempt }: { order: OrderRecord; attempt: AttemptRecord },
  { reason, again, at }: Refused,
): Pick<Changes, 'orders' | 'events'> {
  const { state, wish } = order
  const isCancel =
    state === 'canceling' || (state !== 'capturing' && wish === 'cancel')
  const isTold = state === 'stored' && order.reason === reason && again
  const fields: Partial<OrderRecord> = {
    reason,
    wish: undefined,
    sendDue: again,
  }
  // What is tried over and over fails once.
  if (isTold) return { orders: [{ ...order, ...fields }], events: [] }
  const told = tellOrder(
    order,
    {
      type: isCancel ? 'cancelRejected' : 'captureRejected',
      at,
      data: { reason },
    },
    fields,
  )
  if (!isInFlight(order) || state === 'voided')
    return { orders: [told.order], events: [told.event] }
  if (wish === 'void') {
    const lookDue = lastSecondOf(attempt)
    const event = { type: 'voided', at } as const
    const voided = moveOrder(told.order, 'voided', event, { lookDue })
    return { orders: [voided.order], events: [told.event, voided.event] }
  }
  const later = state === 'capturing' && wish === 'cancel'
  return {
    orders: [
      {
        ...dropPreconfirmed(told.order),
        state: 'stored',
        ...(later ? { wish, sendDue: 0n } : {}),
      },
    ],
    events: [told.event],
  }
}

/** An order whose transaction can no longer be the one: sent again soon. Pure. */
export function reopenOrder(order: OrderRecord): OrderRecord {
  const { state, wish } = order
  if (!isInFlight(order)) return order
  if (state === 'voided') return { ...order, sendDue: 0n }
  if (wish === 'void') return order
  const kept = wish ?? (state === 'canceling' ? 'cancel' : 'capture')
  const open = dropPreconfirmed(order)
  return { ...open, state: 'stored', wish: kept, sendDue: 0n }
}

/**
 * Whether a transaction of ours is to decide it. What was voided is, while the
 * buyer's cancellation of it is sent.
 */
export function isInFlight({
  state,
  wish,
}: Pick<OrderRecord, 'state' | 'wish'>): boolean {
  const isCanceled = state === 'voided' && wish === 'cancel'
  return isCanceled || state === 'capturing' || state === 'canceling'
}
