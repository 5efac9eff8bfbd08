import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { carries, ordersOf } from '../../store/movements.js'
import type {
  Destination,
  ProofRecord,
  StoreWriter,
} from '../../store/types.js'
import type { TimedReceipt } from '../evidence/getTimedReceipts.js'
import { type Changes, noChanges } from '../model/changes.js'
import { type HasKinds, knowsKind, settlersOf } from '../model/kindOf.js'
import { traitsOf } from '../model/roles.js'

/** A payment found on chain that belongs to no order. */
export type Unmatched = Omit<ProofRecord, 'version'>

/**
 * Turns a transfer into a payment without an order. Returns `undefined` for a
 * transfer of 0.
 */
export function unmatchedOf(
  log: ReadLog,
  destination: Destination,
  { receipt, blockTime }: TimedReceipt,
): Unmatched | undefined {
  const event = decodeTokenLog(log)
  // Ignore transfers of 0: anyone can send them from any account, any number of
  // times.
  if (event?.name !== 'Transfer' || event.value === 0n) return undefined
  const { chainId, token, recipient } = destination
  return {
    chainId,
    token,
    recipient,
    transactionHash: receipt.transactionHash,
    // This log comes from a receipt, so its index is set.
    logIndex: Number(log.logIndex),
    kind: 'unmatched',
    orderId: undefined,
    attempt: undefined,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    blockTime,
    payer: event.from,
    value: event.value,
    submitter: receipt.from.toLowerCase() as Unmatched['submitter'],
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
    removed: false,
  }
}

/**
 * Returns the rows to write for payments without an order. Adds one event per
 * payment, unless a contract paid that may do so at any time.
 */
export async function settleUnmatched(
  context: HasKinds,
  tables: Pick<StoreWriter, 'orders' | 'proofs' | 'transactions'>,
  all: readonly Unmatched[],
  at: bigint,
): Promise<Changes> {
  const changes = noChanges()
  const found = await dropOwn(context, tables, all)
  const [first] = found
  if (!first) return changes
  const rows = await tables.proofs.find({
    hashes: [...new Set(found.map(({ transactionHash }) => transactionHash))],
    chainId: first.chainId,
  })
  const isAt = (row: Unmatched, other: Unmatched) =>
    row.transactionHash === other.transactionHash &&
    row.logIndex === other.logIndex
  // When a reorg moves a transaction to another block, its logs get other
  // indexes, so recognize a moved payment by its other fields.
  const moved = rows.filter(
    (row) =>
      row.removed &&
      row.kind === 'unmatched' &&
      !found.some((proof) => isAt(row, proof)),
  )
  const settlers = settlersOf(context)
  for (const proof of found) {
    const known = rows.find((row) => isAt(row, proof))
    const isKnown = known && !known.removed
    if (isKnown && known.blockHash === proof.blockHash) continue
    if (known) changes.proofs.push({ ...known, ...proof })
    else changes.newProofs.push(proof)
    const from = known ? -1 : moved.findIndex((row) => isAlike(row, proof))
    if (from >= 0) moved.splice(from, 1)
    else if (known?.kind !== 'unmatched' && !settlers.has(proof.payer))
      changes.events.push(eventOf(proof, at))
  }
  return changes
}

/**
 * Leaves out transactions that we sent for charges of subscriptions, or for a
 * kind of payment whose module this process lacks: their submitter settles
 * them.
 */
async function dropOwn(
  context: HasKinds,
  tables: Pick<StoreWriter, 'orders' | 'transactions'>,
  found: readonly Unmatched[],
): Promise<readonly Unmatched[]> {
  const [first] = found
  if (!first) return found
  const hashes = [...new Set(found.map((proof) => proof.transactionHash))]
  const { chainId } = first
  const sent = await tables.transactions.find({ hashes, chainId })
  const ids = ordersOf(sent)
  if (ids.length === 0) return found
  const settledElsewhere = (await tables.orders.find({ ids })).filter(
    (order) => traitsOf(order).isScheduled || !knowsKind(context, order),
  )
  const own = new Set(
    sent
      .filter((row) => settledElsewhere.some(({ id }) => carries(row, id)))
      .map(({ hash }) => hash),
  )
  return found.filter((proof) => !own.has(proof.transactionHash))
}

function isAlike(row: Unmatched, other: Unmatched): boolean {
  return (
    row.transactionHash === other.transactionHash &&
    row.token === other.token &&
    row.recipient === other.recipient &&
    row.payer === other.payer &&
    row.value === other.value
  )
}

function eventOf(proof: Unmatched, at: bigint): Changes['events'][number] {
  const { chainId, token, recipient, transactionHash, logIndex } = proof
  return {
    chainId,
    token,
    recipient,
    orderId: undefined,
    sequence: 0,
    type: 'unmatched',
    at,
    data: {
      transactionHash,
      logIndex,
      blockNumber: String(proof.blockNumber),
      value: String(proof.value),
      from: proof.payer,
      submitter: proof.submitter,
    },
  }
}
