import { carries, ordersOf } from '../../store/movements.js'
import type {
  Lease,
  ProofRecord,
  StoreWriter,
  TransactionRecord,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { Recheck } from '../evidence/recheckProofs.js'
import { apply, type Rules, rulesOf } from '../model/apply.js'
import { type Changes, noChanges } from '../model/changes.js'
import { type ChangeSet, collectChanges } from '../model/collectChanges.js'
import { knowsKind } from '../model/kindOf.js'
import { loadOrders, loadTransactions } from '../model/loadOrders.js'
import { isSame, removing } from '../model/planGone.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { isVoid } from '../model/rejectOrder.js'
import { atAttempt } from '../model/storedOrder.js'
import { writeUnit } from './writeUnit.js'

export type Displaced = Extract<
  Recheck<ProofRecord>,
  { verdict: 'moved' | 'gone' }
>

/**
 * Writes what a reorganization did to stored payments and cancellations: the
 * new block of one that moved, or for one that is gone, the state of the order
 * without it.
 * @param options.blockTime time of the newest block, Unix seconds.
 */
export function takeBack(
  context: OrdersContext,
  displaced: readonly Displaced[],
  options: { blockTime: bigint; lease?: Lease | undefined },
): Promise<Changes> {
  if (!displaced.length) return Promise.resolve(noChanges())
  return writeUnit(
    context,
    (tables) => displaceProofs(context, tables, displaced, options.blockTime),
    options,
  )
}

async function displaceProofs(
  context: OrdersContext,
  tables: StoreWriter,
  displaced: readonly Displaced[],
  blockTime: bigint,
): Promise<Changes> {
  const { kinds } = context
  const ids = displaced.flatMap(({ proof }) => proof.orderId ?? [])
  const collected = collectChanges(await loadOrders(tables, { ids }))
  const transactions = await loadTransactions(tables, ids)
  const givenUp = await findGivenUp(tables, transactions)
  const facts = {
    rules: rulesOf(context),
    blockTime,
    kinds,
    transactions,
    givenUp,
  }
  for (const one of displaced) displaceProof(collected, one, facts)
  const others = displaced.filter(({ proof }) => proof.orderId === undefined)
  collected.add(await dropUnmatched(tables, others))
  return collected.close()
}

/**
 * Finds the orders that were given up, of transactions that carry several: such
 * a transaction is not sent again for the others.
 */
async function findGivenUp(
  tables: StoreWriter,
  sent: readonly TransactionRecord[],
): Promise<string[]> {
  const ids = ordersOf(sent.filter(({ movements }) => movements.length > 1))
  if (ids.length === 0) return []
  const found = await tables.orders.find({ ids })
  return found.filter(isVoid).map(({ id }) => id)
}

/**
 * Marks payments without an order as removed. If they are in a new block,
 * reconciliation finds them again there.
 */
async function dropUnmatched(
  tables: StoreWriter,
  displaced: readonly Displaced[],
): Promise<Changes> {
  const [first] = displaced
  if (!first) return noChanges()
  const rows = await tables.proofs.find({
    hashes: displaced.map(({ proof }) => proof.transactionHash),
    chainId: first.proof.chainId,
  })
  const proofs = rows.filter((row) =>
    displaced.some(({ proof }) => isSame(row, proof) && !row.removed),
  )
  return {
    ...noChanges(),
    proofs: proofs.map((row) => ({ ...row, removed: true })),
  }
}

type Facts = Pick<OrdersContext, 'kinds'> & {
  rules: Rules
  blockTime: bigint
  transactions: readonly TransactionRecord[]
  givenUp: readonly string[]
}

function displaceProof(
  collected: ChangeSet,
  displaced: Displaced,
  { rules, ...facts }: Facts,
): void {
  const { proof } = displaced
  const { orderId = '' } = proof
  const newest = collected.find(orderId)
  const stored = newest && atAttempt(newest, proof.attempt)
  const kept = newest?.proofs.find((row) => isSame(row, proof) && !row.removed)
  // Another process has written the new block or the removal already, so skip
  // it.
  if (!stored || !kept) return
  const { order, attempt } = stored
  // This process lacks the module for the order's kind of payment, so leave the
  // order to a process that has it.
  if (!knowsKind(facts, order)) return
  const again =
    displaced.verdict === 'moved' &&
    proofRecordOf(
      facts,
      displaced.receipt,
      { order, attempt: { ...attempt, payer: proof.payer } },
      displaced.blockTime,
    )
  if (!again) {
    const { blockTime, transactions, givenUp } = facts
    const others = givenUp.filter((id) => id !== orderId)
    const own = transactions.filter(
      (row) => carries(row, orderId) && !others.some((id) => carries(row, id)),
    )
    const gone = { proof, transactions: own, blockTime }
    collected.add(apply(newest, { kind: 'gone', ...gone }, rules))
    return
  }
  const kind = again.kind === 'cancel' ? 'cancel' : 'capture'
  collected.add(apply(stored, { kind, proof: again }, rules))
  if (again.logIndex !== kept.logIndex) collected.add(removing(kept))
}
