import type { Hash } from 'viem'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  ProofRecord,
  StoreReader,
} from '../../store/types.js'
import { isRefund } from './refundRow.js'

/**
 * Finds the orders that a transaction captured, canceled or refunded, and the
 * transfers in it that belong to no order. Needs three database queries for
 * each chain, all by index.
 */
export async function findByTransaction(
  tables: Pick<StoreReader, 'orders' | 'transactions' | 'proofs'>,
  destinations: readonly Destination[],
  hash: Hash,
): Promise<{ ids: readonly string[]; unmatched: readonly ProofRecord[] }> {
  const hashes = [hash]
  const named: (string | undefined)[] = []
  const proofs: ProofRecord[] = []
  for (const chainId of new Set(destinations.map(({ chainId }) => chainId))) {
    const sent = await tables.transactions.find({ hashes, chainId })
    for (const { movements } of sent)
      named.push(...movements.map(({ orderId }) => orderId))
    proofs.push(...(await tables.proofs.find({ hashes, chainId })))
  }
  named.push(...proofs.map(({ orderId }) => orderId))
  const ids = [...new Set(named.flatMap((id) => id ?? []))]
  const found = ids.length ? await tables.orders.find({ ids }) : []
  const own = found.filter((order) => isInDestinations(order, destinations))
  return {
    ids: [
      ...new Set(own.map((row) => (isRefund(row) ? row.parentId : row.id))),
    ],
    unmatched: proofs.filter(
      (proof) =>
        proof.orderId === undefined && isInDestinations(proof, destinations),
    ),
  }
}
