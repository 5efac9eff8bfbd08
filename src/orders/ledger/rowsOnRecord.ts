import type { Hash } from 'viem'
import type {
  Destination,
  ProofRecord,
  StoreReader,
  Submitter,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { settlersOf } from '../model/kindOf.js'
import { isOfBooks } from '../model/movementEvents.js'
import { causeOf, finalityOf, loadOrdersOf } from './causeOf.js'
import { describeCoin, describeToken } from './describeToken.js'
import { rowOfGas, rowsOfMovement } from './planRows.js'
import { proofsOnRecord } from './proofsOnRecord.js'
import type { LedgerRange, LedgerRow } from './types.js'

/**
 * Yields the stored payments of a destination. Also yields the gas of their
 * transactions, if the store has a payment's proof but not the transaction
 * itself.
 *
 * @param options.submitters accounts whose gas counts.
 * @param options.hasMoves false to yield only the gas.
 */
export async function* rowsOnRecord(
  context: OrdersContext,
  destination: Destination,
  range: LedgerRange,
  {
    submitters,
    hasMoves,
  }: { submitters: readonly Submitter[]; hasMoves: boolean },
): AsyncGenerator<LedgerRow> {
  const { store } = context
  const coin = describeCoin(context, destination.chainId)
  const unit = hasMoves ? await describeToken(context, destination) : coin
  const isOurs = new Set(
    submitters
      .filter(({ chainId }) => chainId === destination.chainId)
      .map(({ account }) => account),
  )
  const settlers = settlersOf(context)
  for await (const proofs of proofsOnRecord(context, destination, range)) {
    const { orders, forgotten } = await store.read(async (tables) => ({
      orders: await loadOrdersOf(tables, proofs),
      forgotten: await findForgotten(
        tables,
        proofs.filter(({ submitter }) => isOurs.has(submitter)),
      ),
    }))
    for (const proof of proofs) {
      const order = orders.get(proof.orderId ?? '')
      const place = { ...placeOf(proof), finality: finalityOf(proof, order) }
      const cause = causeOf(order)
      if (hasMoves && proof.kind !== 'cancel' && isOfBooks(proof))
        yield* rowsOfMovement(
          destination,
          unit,
          {
            ...place,
            logIndex: proof.logIndex,
            value: proof.value,
            from: cause.refund ? proof.recipient : proof.payer,
            to: cause.refund?.to ?? proof.recipient,
          },
          proof.kind === 'capture' ? cause : undefined,
          { settlers },
        )
      if (forgotten.has(proof))
        yield rowOfGas(
          { chainId: proof.chainId, account: proof.submitter },
          coin,
          {
            ...place,
            cause,
            recipient: proof.recipient,
            fee: proof.gasUsed * proof.effectiveGasPrice,
          },
        )
    }
  }
}

const placeOf = ({ transactionHash, blockNumber, blockTime }: ProofRecord) => ({
  transactionHash,
  blockNumber,
  blockTime,
})

/**
 * Finds stored payments whose transactions the store lacks, as after a backup
 * was restored. If a transaction made several payments, returns the first.
 */
async function findForgotten(
  { transactions, proofs: table }: Pick<StoreReader, 'transactions' | 'proofs'>,
  proofs: readonly ProofRecord[],
): Promise<ReadonlySet<ProofRecord>> {
  const [first] = proofs
  if (!first) return new Set()
  const { chainId } = first
  const all = [...new Set(proofs.map(hashOf))]
  const recorded = await transactions.find({ hashes: all, chainId })
  const known = new Set(recorded.map(({ hash }) => hash))
  const hashes = all.filter((hash) => !known.has(hash))
  if (hashes.length === 0) return new Set()
  const lowest = new Map<Hash, number>()
  for (const row of await table.find({ hashes, chainId })) {
    const low = lowest.get(row.transactionHash)
    if (row.removed || (low !== undefined && low <= row.logIndex)) continue
    lowest.set(row.transactionHash, row.logIndex)
  }
  return new Set(
    proofs.filter((row) => lowest.get(row.transactionHash) === row.logIndex),
  )
}

const hashOf = ({ transactionHash }: ProofRecord): Hash => transactionHash
