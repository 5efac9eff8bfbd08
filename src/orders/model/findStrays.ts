import type { ProofRecord, StoreReader } from '../../store/types.js'
import type { Evidence } from './settleOrder.js'

/** Finds the stored proofs of the transactions that the evidence names. */
export async function findRecorded(
  tables: Pick<StoreReader, 'proofs'>,
  found: readonly Evidence[],
): Promise<ProofRecord[]> {
  const proofs = found.flatMap((evidence) =>
    'proof' in evidence ? [evidence.proof] : [],
  )
  const [first] = proofs
  if (!first) return []
  const hashes = [
    ...new Set(proofs.map(({ transactionHash }) => transactionHash)),
  ]
  const { chainId } = first
  return tables.proofs.find({ hashes, chainId })
}

/**
 * Picks the payments that are stored as `unmatched`, without an order, and now
 * turn out to have one. Marks them as removed, so that they count only once.
 * Pure.
 */
export function straysOf(recorded: readonly ProofRecord[]): ProofRecord[] {
  return recorded
    .filter(({ kind }) => kind === 'unmatched')
    .map((row) => ({ ...row, removed: true }))
}
