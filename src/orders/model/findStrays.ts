import type {
  ProofRecord,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import { isSame } from './planGone.js'
import type { Evidence } from './settleOrder.js'

/** Finds the stored payments and cancellations of the transactions of proofs. */
async function loadRecorded(
  tables: Pick<StoreReader, 'proofs'>,
  proofs: readonly NewProof[],
): Promise<ProofRecord[]> {
  const [first] = proofs
  if (!first) return []
  const hashes = [
    ...new Set(proofs.map(({ transactionHash }) => transactionHash)),
  ]
  const { chainId } = first
  return tables.proofs.find({ hashes, chainId })
}

type NewProof = Omit<ProofRecord, 'version'>

/**
 * Finds the stored payments and cancellations of the transactions in the
 * evidence, and makes room for the evidence among them.
 *
 * The store has one record for each log of a transaction. If a reorganization
 * moved a transaction with several payments to another block, a payment can have
 * the log index there that another one had before. The removed record of that
 * other payment then gets a negative log index, which no log has, and its place
 * goes to the order that the chain shows there.
 */
export async function findRecorded(
  tables: { proofs: StoreWriter['proofs'] },
  found: readonly Evidence[],
): Promise<ProofRecord[]> {
  const proofs = found.flatMap((evidence) =>
    'proof' in evidence ? [evidence.proof] : [],
  )
  const recorded = await loadRecorded(tables, proofs)
  const isDisplaced = (row: ProofRecord, proof: NewProof) =>
    isSame(row, proof) &&
    row.removed &&
    row.blockHash !== proof.blockHash &&
    row.orderId !== undefined &&
    row.orderId !== proof.orderId
  const moves = proofs.flatMap((proof) => {
    const row = recorded.find((one) => isDisplaced(one, proof))
    return row ? [{ row, proof }] : []
  })
  if (moves.length === 0) return recorded
  const lowest = recorded.reduce((low, one) => Math.min(low, one.logIndex), 0)
  const kept = moves.map(({ row: { version: _, ...row } }, at) => ({
    ...row,
    logIndex: lowest - 1 - at,
  }))
  const taken = moves.map(({ row: { version }, proof }) => ({
    ...proof,
    version,
    removed: true,
  }))
  await tables.proofs.insert(kept)
  await tables.proofs.update(taken)
  return loadRecorded(tables, proofs)
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

/**
 * Picks removed records that belong to an order and were given to it just now,
 * so that they are not among the proofs that were loaded with it.
 */
export function givenTo(
  orderId: string,
  recorded: readonly ProofRecord[],
): ProofRecord[] {
  return recorded.filter((row) => row.orderId === orderId && row.removed)
}
