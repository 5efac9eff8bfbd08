import { carries } from '../../store/movements.js'
import type { ProofRecord, TransactionRecord } from '../../store/types.js'
import { type Changes, noChanges, withEvent } from './changes.js'
import { type ChangeSet, collectChanges } from './collectChanges.js'
import type { Rules } from './commands.js'
import { lastSecondOf } from './endsOf.js'
import { reopenLast } from './reopenLast.js'
import { settleOrder } from './settleOrder.js'
import { atAttempt, type StoredOrder } from './storedOrder.js'
import { unsettleOrder } from './unsettleOrder.js'

/** A reorganization removed a settlement from the chain. */
export type Gone = {
  /** The stored proof of it. Absent if it was settled without a log. */
  proof?: ProofRecord | undefined
  /** Our transactions for the order. */
  transactions: readonly TransactionRecord[]
  /** Time of the newest block, in Unix seconds. */
  blockTime: bigint
}

/** Takes back what the chain does not show any more. */
export function planGone(
  newest: StoredOrder,
  gone: Gone,
  rules: Rules,
): Changes {
  const { proof, ...facts } = gone
  const about = { ...facts, ...rules }
  if (!proof) return unsettleOrder(newest, about)
  const stored = atAttempt(newest, proof.attempt)
  const kept = newest.proofs.find((row) => isSame(row, proof) && !row.removed)
  // The removal is written already.
  if (!stored || !kept) return noChanges()
  const { order } = newest
  const collected = collectChanges(new Map([[order.id, newest]]))
  if (order.settledHash === kept.transactionHash) {
    collected.add(unsettleOrder(stored, about))
    settleByAnother(collected, order.id, rules.at)
  } else {
    collected.add(removing(kept))
    collected.apply(order.id, [(now) => takeOverpaid(now, kept, about)])
  }
  return collected.close()
}

/** Marks a stored proof as removed from the chain. */
export function removing(kept: ProofRecord): Changes {
  return { ...noChanges(), proofs: [{ ...kept, removed: true }] }
}

/** True for two records of the same log. */
export function isSame(
  row: ProofRecord,
  {
    transactionHash,
    logIndex,
  }: Pick<ProofRecord, 'transactionHash' | 'logIndex'>,
): boolean {
  return row.transactionHash === transactionHash && row.logIndex === logIndex
}

/**
 * If an order was paid twice and one payment is gone, settles it by the other.
 */
function settleByAnother(collected: ChangeSet, id: string, at: bigint): void {
  collected.apply(id, [
    (newest) => {
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
    },
  ])
}

/** The payment that is gone was not the one that settled the order. */
function takeOverpaid(
  { order, attempts, proofs }: StoredOrder,
  kept: ProofRecord,
  { transactions, blockTime, at }: Gone & Pick<Rules, 'at'>,
): Changes {
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
  const isAgain = (row: TransactionRecord) =>
    row.kind === 'cancel' &&
    kept.kind === 'cancel' &&
    reopened.some(
      ({ number, spendable }) => spendable && carries(row, order.id, number),
    )
  return {
    ...noChanges(),
    orders: [reported.order],
    attempts: reopened,
    transactions: reopenLast(
      transactions.filter(isAgain),
      reopened[0]?.cancellation,
    ),
    events: [reported.event],
  }
}
