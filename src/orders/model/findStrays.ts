import type { ProofRecord, StoreWriter } from '../../store/types.js'
import type { Evidence } from './settleOrder.js'

/**
 * Finds payments on record as `unmatched` that now turn out to have an order.
 */
export async function findStrays(
  tables: Pick<StoreWriter, 'proofs'>,
  found: readonly Evidence[],
): Promise<ProofRecord[]> {
  const captures = found.flatMap((evidence) =>
    evidence.kind === 'capture' ? [evidence.proof] : [],
  )
  const [first] = captures
  if (!first) return []
  const hashes = [
    ...new Set(captures.map(({ transactionHash }) => transactionHash)),
  ]
  const { chainId } = first
  const rows = await tables.proofs.find({ hashes, chainId })
  return rows
    .filter(({ kind }) => kind === 'unmatched')
    .map((row) => ({ ...row, removed: true }))
}
