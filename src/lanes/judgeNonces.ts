import type { ProofReceipt } from '../base/receiptProof.js'
import type { TransactionRecord } from '../store/types.js'
import type { LaneState } from './laneState.js'
import type { LaneView } from './readLane.js'

/** What the chain says of a nonce and of ours at it. */
export type JudgedNonce = {
  nonce: number
  /** All of ours that are open at it, the first one first. */
  rows: readonly [TransactionRecord, ...TransactionRecord[]]
} & (
  | { kind: 'mined'; row: TransactionRecord; receipt: ProofReceipt }
  /** The chain is past it, and has none of our hashes. */
  | { kind: 'passed' }
  /** Only the wallet knows what it sent, if it did. */
  | { kind: 'unknown' }
  | { kind: 'pending' }
)

/** Sorts open transactions by what the chain shows of them. Pure. */
export function judgeNonces(
  { open, value }: Pick<LaneState, 'open' | 'value'>,
  { receipts, count }: Pick<LaneView, 'receipts' | 'count'>,
): JudgedNonce[] {
  return groupByNonce(open).map((rows): JudgedNonce => {
    const [{ nonce }] = rows
    for (const row of rows) {
      const receipt = row.hash && receipts.get(row.hash)
      if (receipt) return { nonce, rows, kind: 'mined', row, receipt }
    }
    if (nonce < count && value.ignoresNonce !== true)
      return { nonce, rows, kind: 'passed' }
    const isUnknown = rows.some(({ hash }) => hash === undefined)
    return { nonce, rows, kind: isUnknown ? 'unknown' : 'pending' }
  })
}

/** Transactions of one nonce after another. Pure. */
export function groupByNonce(
  open: readonly TransactionRecord[],
): (readonly [TransactionRecord, ...TransactionRecord[]])[] {
  const groups = new Map<number, [TransactionRecord, ...TransactionRecord[]]>()
  for (const row of open) {
    const group = groups.get(row.nonce)
    if (group) group.push(row)
    else groups.set(row.nonce, [row])
  }
  return [...groups.values()]
}

/** The one that counts: the last in the place of the others. Pure. */
export function newestOf(
  rows: readonly [TransactionRecord, ...TransactionRecord[]],
): TransactionRecord {
  return rows.reduce((last, row) => (row.bump > last.bump ? row : last))
}

/** The bump of the next one at a nonce; all on record there count. Pure. */
export function nextBump(
  rows: readonly Pick<TransactionRecord, 'bump'>[],
): number {
  return rows.reduce((next, { bump }) => Math.max(next, bump + 1), 0)
}
