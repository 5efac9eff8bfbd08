import type { ProofRecord, StoreReader } from '../../store/types.js'
import type { Evidence } from './settleOrder.js'

/** Finds the proofs on record for the transactions of some evidence. */
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
 * Picks the payments on record as `unmatched` that now turn out to have an
 * order, and marks them as removed. Pure.
 */
export function straysOf(recorded: readonly ProofRecord[]): ProofRecord[] {
  return recorded
    .filter(({ kind }) => kind === 'unmatched')
    .map((row) => ({ ...row, removed: true }))
}
