import type { OrderState } from '../../store/types.js'
import { type Changes, noChanges, withEvent } from './changes.js'
import type { Rules } from './commands.js'
import { lastSecondOf } from './endsOf.js'
import type { StoredOrder } from './storedOrder.js'

const settled: readonly OrderState[] = ['captured', 'canceled', 'consumed']

/** The worker looked at an order whose time had come, and found it undecided. */
export type Look = {
  /** Time of the newest block, in Unix seconds. */
  time: bigint
  /** Seconds until the next look at an order whose window has ended. */
  pause: bigint
}

/**
 * Sets when to look at an order again. Adds an event if its deadline is near,
 * and asks for the capture if the policy captures then.
 */
export function planLook(
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
  { time, pause }: Look,
  { at, policy }: Rules,
): Changes {
  if (order.lookDue === undefined || order.lookDue > time) return noChanges()
  const end = lastSecondOf(attempt)
  const lookDue = end > time ? end : time + pause
  const isNear =
    order.state === 'stored' &&
    order.requested === undefined &&
    order.deadline > time
  if (settled.includes(order.state))
    return { ...noChanges(), orders: [{ ...order, lookDue: undefined }] }
  if (!isNear) return { ...noChanges(), orders: [{ ...order, lookDue }] }
  const isDue =
    policy.capture === 'beforeDeadline' &&
    order.total === 'amount' &&
    !order.needsReview &&
    // Do not capture if the buyer asked to cancel, even if that cancellation
    // was not sent.
    attempt.cancellation === undefined
  const data = { deadline: String(order.deadline) }
  const reported = withEvent(
    order,
    { type: 'deadlineNear', at, data },
    { lookDue, ...(isDue ? { requested: 'capture', sendDue: 0n } : {}) },
  )
  return { ...noChanges(), orders: [reported.order], events: [reported.event] }
}
