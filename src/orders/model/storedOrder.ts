import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'

/** An order with everything on record about it and its attempts. */
export type StoredOrder = {
  order: OrderRecord
  /** The attempt in question: the newest one unless another is asked for. */
  attempt: AttemptRecord
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
}

/** The same order with another attempt in question. Pure. */
export function atAttempt(
  stored: StoredOrder,
  number: number | undefined,
): StoredOrder | undefined {
  const attempt = stored.attempts.find((row) => row.number === number)
  return attempt && { ...stored, attempt }
}
