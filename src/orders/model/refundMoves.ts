import type { Address } from 'viem'
import type { AttemptRecord, OrderReason } from '../../store/types.js'
import { type Changes, moveOrder, noChanges } from './changes.js'
import { inState } from './moves.js'
import type { StoredOrder } from './storedOrder.js'

type Asked = Pick<StoredOrder, 'order'>

/** A nonce and a window for a refund, to be signed by the recipient's wallet. */
export type RefundOffer = {
  attempt: AttemptRecord
  /** The account that submits the refund. @default the one before */
  submitter?: Address | undefined
}

export function offerRefund(
  { order }: Asked,
  { attempt, submitter = order.submitter }: RefundOffer,
): Changes {
  const { validBefore } = attempt
  const offered = {
    ...order,
    deadline: validBefore,
    lookDue: validBefore,
    submitter,
  }
  return { ...noChanges(), orders: [offered], attempts: [attempt] }
}

/** A refund that was never signed failed: its amount is free again. */
export function failRefund(
  { order }: Asked,
  { reason }: { reason: OrderReason },
  at: bigint,
): Changes {
  const failed = moveOrder(
    order,
    'giveUp',
    'voided',
    { type: 'captureRejected', at, data: { reason } },
    { reason, lookDue: undefined },
  )
  return { ...noChanges(), orders: [failed.order], events: [failed.event] }
}

/** Another transfer used the nonce of a refund. */
export function loseNonce({ order }: Asked): Changes {
  const lost = {
    ...inState(order, 'loseNonce', 'voided'),
    reason: 'consumed' as const,
    sendDue: undefined,
    lookDue: undefined,
  }
  return { ...noChanges(), orders: [lost] }
}

/**
 * A refund whose last attempt can no longer be paid is wanted again. The caller
 * inserts the new attempt.
 */
export function renewRefund(
  { order }: Asked,
  { number }: { number: number },
): Changes {
  const renewed = {
    ...inState(order, 'renewRefund', 'drafted'),
    attempt: number,
    deadline: 0n,
    sendDue: undefined,
    lookDue: undefined,
    requested: undefined,
    reason: undefined,
    finality: undefined,
    settledHash: undefined,
    settledBlock: undefined,
  }
  return { ...noChanges(), orders: [renewed] }
}
