import type {
  Lease,
  OrderRecord,
  ProofRecord,
  StoreWriter,
  TransactionRecord,
} from '../../store/types.js'
import type { Recheck } from '../evidence/recheckProofs.js'
import { type Changes, noChanges, withEvent } from '../model/changes.js'
import {
  type ChangeSet,
  collectChanges,
  type Step,
} from '../model/collectChanges.js'
import { lastSecondOf } from '../model/endsOf.js'
import { knowsKind } from '../model/kindOf.js'
import { loadOrders, loadTransactions } from '../model/loadOrders.js'
import { proofRecordOf } from '../model/proofRecordOf.js'
import { reopenLast } from '../model/reopenLast.js'
import { settleOrder } from '../model/settleOrder.js'
import { atAttempt } from '../model/storedOrder.js'
import type { OrdersContext } from '../model/types.js'
import { unsettleOrder } from '../model/unsettleOrder.js'
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
  { now, policy, kinds }: OrdersContext,
  tables: StoreWriter,
  displaced: readonly Displaced[],
  blockTime: bigint,
): Promise<Changes> {
  const at = now()
  const ids = displaced.flatMap(({ proof }) => proof.orderId ?? [])
  const collected = collectChanges(await loadOrders(tables, { ids }))
  const transactions = await loadTransactions(tables, ids)
  const facts = { at, blockTime, policy, kinds, transactions }
  for (const one of displaced) displaceProof(collected, one, facts)
  const others = displaced.filter(({ proof }) => proof.orderId === undefined)
  collected.add(await dropUnmatched(tables, others))
  return collected.close()
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

type Facts = Pick<OrdersContext, 'policy' | 'kinds'> & {
  at: bigint
  blockTime: bigint
  transactions: readonly TransactionRecord[]
}

export function displaceProof(
  collected: ChangeSet,
  displaced: Displaced,
  facts: Facts,
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
  if (again) {
    const kind = again.kind === 'cancel' ? 'cancel' : 'capture'
    collected.add(settleOrder(stored, { kind, proof: again }, facts.at))
    if (again.logIndex !== kept.logIndex) collected.add(removing(kept))
  } else if (order.settledHash !== kept.transactionHash) {
    collected.add(removing(kept))
    collected.apply(orderId, [noLongerOverpaid(kept, facts)])
  } else {
    collected.add(unsettleOrder(stored, factsOf(order, facts)))
    collected.apply(orderId, [settlingByAnother(facts.at)])
  }
}

function factsOf({ id }: OrderRecord, facts: Facts): Facts {
  const { transactions } = facts
  const own = transactions.filter(({ orderId }) => orderId === id)
  return { ...facts, transactions: own }
}

function removing(kept: ProofRecord): Partial<Changes> {
  return { proofs: [{ ...kept, removed: true }] }
}

/**
 * If an order was paid twice and one payment is gone, settles it by the other.
 */
function settlingByAnother(at: bigint): Step {
  return (newest) => {
    const { order, proofs } = newest
    const other = proofs.find(
      ({ kind, removed }) => kind === 'capture' && !removed,
    )
    const stored = other && atAttempt(newest, other.attempt)
    if (!stored) return noChanges()
    const unread = proofs.map((proof) =>
      proof === other ? { ...other, removed: true } : proof,
    )
    const { version: _, ...proof } = other
    return settleOrder(
      { ...stored, order: { ...order, overpaid: false }, proofs: unread },
      { kind: 'capture', proof },
      at,
    )
  }
}

function noLongerOverpaid(kept: ProofRecord, facts: Facts): Step {
  const { at, blockTime } = facts
  return ({ order, attempts, proofs }) => {
    const { transactions } = factsOf(order, facts)
    const isOverpaid = proofs.some(
      ({ kind, removed, transactionHash }) =>
        kind === 'capture' && !removed && transactionHash !== order.settledHash,
    )
    const reopened = attempts
      .filter(({ number }) => number === kept.attempt)
      .map((row) => ({
        ...row,
        spendable: row.signature !== undefined && blockTime < lastSecondOf(row),
      }))
    const reported = withEvent(
      order,
      {
        type: 'reorged',
        at,
        data: {
          transactionHash: kept.transactionHash,
          from: order.state,
          to: order.state,
        },
      },
      { overpaid: order.overpaid && isOverpaid },
    )
    return {
      ...noChanges(),
      orders: [reported.order],
      attempts: reopened,
      transactions: reopenLast(
        transactions.filter(
          ({ kind, attempt }) =>
            kind === 'cancel' &&
            kept.kind === 'cancel' &&
            reopened.some(
              ({ number, spendable }) => spendable && number === attempt,
            ),
        ),
        reopened[0]?.cancellation,
      ),
      events: [reported.event],
    }
  }
}

function isSame(
  row: ProofRecord,
  {
    transactionHash,
    logIndex,
  }: Pick<ProofRecord, 'transactionHash' | 'logIndex'>,
): boolean {
  return row.transactionHash === transactionHash && row.logIndex === logIndex
}
