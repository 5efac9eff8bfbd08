import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
  StoreReader,
} from '../../store/types.js'
import { type Changes, noChanges } from './changes.js'
import type { OrderFile } from './settleOrder.js'

/** Orders with all that is on record beside them. */
export type OrderRows = {
  orders: readonly OrderRecord[]
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
}

/**
 * Collects changes that build on each other: each reads the rows as the ones
 * before left them, and every row is written once.
 */
export type Ledger = {
  fileOf(
    orderId: string | undefined,
    attempt?: number | undefined,
  ): OrderFile | undefined
  add(changes: Partial<Changes>): void
  close(): Changes
}

type RowTables = Pick<StoreReader, 'attempts' | 'proofs'> & {
  orders: Pick<StoreReader['orders'], 'find'>
}

export async function readRows(
  tables: RowTables,
  ids: readonly string[],
): Promise<OrderRows> {
  if (ids.length === 0) return { orders: [], attempts: [], proofs: [] }
  const [orders, attempts, proofs] = await Promise.all([
    tables.orders.find({ ids }),
    tables.attempts.find({ orderIds: ids }),
    tables.proofs.find({ orderIds: ids }),
  ])
  return { orders, attempts, proofs }
}

export function openLedger(rows: OrderRows): Ledger {
  const orders = new Map(rows.orders.map((row) => [row.id, row]))
  const attempts = new Map(rows.attempts.map((row) => [attemptKey(row), row]))
  const proofs = groupProofs(rows.proofs)
  const changed = {
    orders: new Set<string>(),
    attempts: new Set<string>(),
    ...{ transactions: new Map(), proofs: new Map(), newProofs: new Map() },
  }
  const all: Changes = noChanges()
  const keepProof = (row: ProofRecord) => {
    const { orderId = '' } = row
    const known = proofs.get(orderId) ?? []
    const others = known.filter((one) => proofKey(one) !== proofKey(row))
    proofs.set(orderId, [...others, row])
  }
  return {
    fileOf: (orderId = '', number) => {
      const order = orders.get(orderId)
      const key = attemptKey({ orderId, number: number ?? order?.attempt ?? 0 })
      const attempt = attempts.get(key)
      if (!order || !attempt) return undefined
      return { order, attempt, proofs: proofs.get(orderId) ?? [] }
    },
    add: (changes) => {
      for (const row of changes.orders ?? []) {
        orders.set(row.id, row)
        changed.orders.add(row.id)
      }
      for (const row of changes.attempts ?? []) {
        attempts.set(attemptKey(row), row)
        changed.attempts.add(attemptKey(row))
      }
      for (const row of changes.transactions ?? [])
        changed.transactions.set(`${row.nonce}.${row.bump}`, row)
      for (const row of changes.proofs ?? []) {
        keepProof(row)
        changed.proofs.set(proofKey(row), row)
      }
      for (const row of changes.newProofs ?? []) {
        keepProof({ ...row, version: 1 })
        changed.newProofs.set(proofKey(row), row)
      }
      all.newTransactions.push(...(changes.newTransactions ?? []))
      all.events.push(...(changes.events ?? []))
    },
    close: () => ({
      ...all,
      orders: [...changed.orders].flatMap((id) => orders.get(id) ?? []),
      attempts: [...changed.attempts].flatMap((key) => attempts.get(key) ?? []),
      transactions: [...changed.transactions.values()],
      proofs: [...changed.proofs.values()],
      newProofs: [...changed.newProofs.values()],
    }),
  }
}

function attemptKey(row: Pick<AttemptRecord, 'orderId' | 'number'>): string {
  return `${row.number} ${row.orderId}`
}

function proofKey(
  row: Pick<ProofRecord, 'transactionHash' | 'logIndex'>,
): string {
  return `${row.transactionHash}:${row.logIndex}`
}

function groupProofs(rows: readonly ProofRecord[]): Map<string, ProofRecord[]> {
  const groups = new Map<string, ProofRecord[]>()
  for (const row of rows) {
    const { orderId = '' } = row
    const group = groups.get(orderId)
    if (group) group.push(row)
    else groups.set(orderId, [row])
  }
  return groups
}
