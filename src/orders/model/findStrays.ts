import type { ProofRecord, StoreReader } from '../../store/types.js'
import type { Evidence } from './settleOrder.js'

/**
 * Finds the stored payments and cancellations of the transactions in the
 * evidence.
 */
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
 * Picks payments that were stored without an order (`unmatched`), and for which
 * an order has now been found. Marks these rows as removed, so that the payment
 * counts only once, with its order.
 */
export function straysOf(recorded: readonly ProofRecord[]): ProofRecord[] {
  return recorded
    .filter(({ kind }) => kind === 'unmatched')
    .map((row) => ({ ...row, removed: true }))
}
