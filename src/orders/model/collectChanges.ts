import { addAll } from '../../core/addAll.js'
import type {
  AttemptRecord,
  ProofRecord,
  TransactionRecord,
} from '../../store/types.js'
import { type Changes, noChanges } from './changes.js'
import { atAttempt, type StoredOrder } from './storedOrder.js'

/**
 * Computes a change of an order. It gets the order with all earlier changes of
 * the set already applied.
 */
export type Step = (stored: StoredOrder) => Partial<Changes>

/**
 * Changes of several orders. Each builds on the earlier ones; all are written
 * together.
 */
export type ChangeSet = {
  /**
   * Returns an order with all changes so far applied.
   * @param attempt number of the attempt. @default the newest
   */
  find(
    orderId: string | undefined,
    attempt?: number | undefined,
  ): StoredOrder | undefined
  add(changes: Partial<Changes>): void
  /**
   * Applies steps to an order one after the other. Does nothing if the order
   * was not loaded.
   */
  apply(orderId: string, steps: readonly Step[]): void
  /** Returns the rows to write: each row once, with all its changes. */
  close(): Changes
  /** Returns the orders as they will be after the changes are written. */
  written(): StoredOrder[]
}

/**
 * Starts a set of changes.
 * @param before the loaded orders, by order id.
 */
export function collectChanges(
  before: ReadonlyMap<string, StoredOrder>,
): ChangeSet {
  const current = new Map(before)
  const rows = {
    orders: new Map<string, Changes['orders'][number]>(),
    attempts: new Map<string, Changes['attempts'][number]>(),
    transactions: new Map<string, Changes['transactions'][number]>(),
    proofs: new Map<string, Changes['proofs'][number]>(),
    newProofs: new Map<string, Changes['newProofs'][number]>(),
  }
  const added = noChanges()
  const keep = (id: string | undefined, fields: Partial<StoredOrder>): void => {
    const stored = id === undefined ? undefined : current.get(id)
    if (id !== undefined && stored) current.set(id, { ...stored, ...fields })
  }
  const keepProof = (row: ProofRecord): void => {
    const { proofs = [] } = current.get(row.orderId ?? '') ?? {}
    keep(row.orderId, { proofs: replaceRow(proofs, row, proofKey) })
  }
  const set: ChangeSet = {
    find: (id = '', number) => {
      const stored = current.get(id)
      return stored && atAttempt(stored, number ?? stored.order.attempt)
    },
    add: (changes) => {
      for (const row of changes.orders ?? []) {
        rows.orders.set(row.id, row)
        keep(row.id, { order: row })
      }
      for (const row of changes.attempts ?? []) {
        rows.attempts.set(attemptKey(row), row)
        const { attempts = [] } = current.get(row.orderId) ?? {}
        keep(row.orderId, { attempts: replaceRow(attempts, row, attemptKey) })
      }
      for (const row of changes.transactions ?? [])
        rows.transactions.set(transactionKey(row), row)
      for (const row of changes.proofs ?? []) {
        rows.proofs.set(proofKey(row), row)
        keepProof(row)
      }
      for (const row of changes.newProofs ?? []) {
        rows.newProofs.set(proofKey(row), row)
        keepProof({ ...row, version: 1 })
      }
      addAll(added.newTransactions, changes.newTransactions ?? [])
      addAll(added.events, changes.events ?? [])
    },
    apply: (id, steps) => {
      for (const step of steps) {
        const stored = set.find(id)
        if (stored) set.add(step(stored))
      }
    },
    close: () => ({
      ...added,
      orders: [...rows.orders.values()],
      // Leave out unchanged rows: otherwise each poll would write them again
      // until a final block settles the order.
      attempts: [...rows.attempts.values()].filter((row) => {
        const { attempts = [] } = before.get(row.orderId) ?? {}
        return !attempts.some((one) => isAlike(one, row))
      }),
      transactions: [...rows.transactions.values()],
      proofs: [...rows.proofs.values()],
      newProofs: [...rows.newProofs.values()],
    }),
    written: () => {
      const { orders, attempts, proofs } = set.close()
      const isWritten = new Set<unknown>([...orders, ...attempts, ...proofs])
      // The store raises the version of a row by one with each write.
      const after = <row extends { version: number }>(row: row): row =>
        isWritten.has(row) ? { ...row, version: row.version + 1 } : row
      return [...current.keys()].flatMap((id) => {
        const stored = set.find(id)
        if (!stored) return []
        return {
          order: after(stored.order),
          attempt: after(stored.attempt),
          attempts: stored.attempts.map(after),
          proofs: stored.proofs.map(after),
        }
      })
    },
  }
  return set
}

/** Replaces the row with the same key, or adds the row at the end. */
function replaceRow<row>(
  rows: readonly row[],
  row: row,
  keyOf: (row: row) => string,
): row[] {
  const key = keyOf(row)
  const isKnown = rows.some((one) => keyOf(one) === key)
  if (!isKnown) return [...rows, row]
  return rows.map((one) => (keyOf(one) === key ? row : one))
}

function isAlike(one: AttemptRecord, other: AttemptRecord): boolean {
  const values = new Map<string, unknown>(Object.entries(one))
  return Object.entries(other).every(
    ([name, value]) => values.get(name) === value,
  )
}

function attemptKey({ orderId, number }: AttemptRecord): string {
  return `${number} ${orderId}`
}

function proofKey({
  transactionHash,
  logIndex,
}: Pick<ProofRecord, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash}:${logIndex}`
}

function transactionKey(row: TransactionRecord): string {
  return `${row.chainId} ${row.account} ${row.nonce} ${row.bump}`
}
