import type { Hash } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'

/** This instance has no order with this id. */
export class OrderNotFoundError extends CountersignError {
  override readonly name = 'OrderNotFoundError'

  constructor({ orderId }: { orderId: string }) {
    super(`There is no order ${JSON.stringify(orderId)}.`, { orderId })
  }
}

/** The order has no refund with this id. */
export class RefundNotFoundError extends CountersignError {
  override readonly name = 'RefundNotFoundError'

  constructor(facts: { orderId: string; refundId: string }) {
    const { orderId, refundId } = facts
    super(
      `Order ${JSON.stringify(orderId)} has no refund ${JSON.stringify(refundId)}.`,
      facts,
    )
  }
}

/**
 * The events cursor is ahead of all events. It may come from another database.
 */
export class CursorAheadError extends CountersignError {
  override readonly name = 'CursorAheadError'

  constructor(facts: { after: bigint; newest: bigint }) {
    const { after, newest } = facts
    super(
      `The cursor ${after} is ahead of the newest event, ${newest}: it may be from another database.`,
      facts,
    )
  }
}

/**
 * The library tried a change that the order's state does not allow. This is a
 * bug in this library, not an answer about the order; nothing is written.
 */
export class TransitionError extends CountersignError {
  override readonly name = 'TransitionError'

  constructor(facts: {
    role: string
    cause: string
    from: string
    /** Absent if the input was refused before a state was chosen. */
    to?: string | undefined
  }) {
    const { role, cause, from, to } = facts
    super(
      to === undefined
        ? `A ${role} in state ${from} refuses ${cause}.`
        : `A ${role} cannot go from ${from} to ${to} by ${cause}.`,
      facts,
    )
  }
}

/**
 * The payment that the chain shows for an order is stored as the payment of
 * another order.
 */
export class ProofConflictError extends CountersignError {
  override readonly name = 'ProofConflictError'

  constructor(facts: {
    orderId: string
    recordedFor: string
    transactionHash: Hash
    logIndex: number
  }) {
    const { orderId, recordedFor, transactionHash, logIndex } = facts
    super(
      `Log ${logIndex} of transaction ${transactionHash} proves order ${JSON.stringify(recordedFor)} already, and cannot prove order ${JSON.stringify(orderId)} too.`,
      facts,
    )
  }
}

/**
 * A token, client, wallet, sealer or sealing key is missing, or contradicts the
 * rest of the configuration.
 */
export class OrdersSetupError extends CountersignError {
  override readonly name = 'OrdersSetupError'

  constructor(
    problem: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(`Orders ${problem}.`, { problem, ...details })
  }
}
