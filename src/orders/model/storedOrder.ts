import type { Address } from 'viem'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'

/**
 * An order as stored, with its attempts (payments that the buyer was asked
 * for), its proofs of payment and its refunds.
 */
export type StoredOrder = {
  order: OrderRecord
  /** The newest attempt, unless the caller asked for another one. */
  attempt: AttemptRecord
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
  refunds?: readonly StoredRefund[] | undefined
}

/**
 * The stored row of a refund. It has the shape of an order in which the
 * recipient pays the payer.
 */
export type RefundRow = OrderRecord & {
  role: 'refund'
  parentId: string
  parentAttempt: number
  payee: Address
}

export type StoredRefund = { row: RefundRow; stored: StoredOrder }

/**
 * Decides by the order's own row whether to load its attempts, proofs and
 * refunds.
 */
export type IsWanted = (order: OrderRecord) => boolean

/** Loads one order. Returns nothing if `isWanted` refuses its row. */
export type OrderLoader = (
  orderId: string,
  isWanted: IsWanted,
) => Promise<StoredOrder | undefined>

/** Returns the same order with `attempt` set to another of its attempts. */
export function atAttempt(
  stored: StoredOrder,
  number: number | undefined,
): StoredOrder | undefined {
  const attempt = stored.attempts.find((row) => row.number === number)
  return attempt && { ...stored, attempt }
}
