import type { ProofRecord } from '../../store/types.js'
import { ProofConflictError } from './errors.js'
import type { Evidence } from './settleOrder.js'

/**
 * Returns an error if a payment found on chain for one order is stored as the
 * payment of another order.
 */
export type FindConflict = (
  orderId: string,
  evidence: Evidence | undefined,
) => ProofConflictError | undefined

/**
 * Compares payments found on chain with the stored ones, and with those of
 * earlier calls: a payment counts only for the first order that claims it.
 */
export function conflictsOf(recorded: readonly ProofRecord[]): FindConflict {
  const owners = new Map<string, string>()
  for (const row of recorded)
    if (row.orderId !== undefined) owners.set(placeOf(row), row.orderId)
  return (orderId, evidence) => {
    if (!evidence || !('proof' in evidence)) return undefined
    const { proof } = evidence
    const place = placeOf(proof)
    const recordedFor = owners.get(place) ?? orderId
    owners.set(place, recordedFor)
    if (recordedFor === orderId) return undefined
    const { transactionHash, logIndex } = proof
    return new ProofConflictError({
      orderId,
      recordedFor,
      transactionHash,
      logIndex,
    })
  }
}

function placeOf({
  transactionHash,
  logIndex,
}: Pick<ProofRecord, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash}/${logIndex}`
}
