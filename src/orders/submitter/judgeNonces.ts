import type { ProofReceipt } from '../../core/receiptProof.js'
import type { TransactionRecord } from '../../store/types.js'
import type { SubmitterView } from './readSubmitter.js'
import { choosesNonce, type SubmitterState } from './submitterState.js'

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
  submitter: Pick<SubmitterState, 'inFlight' | 'value' | 'wallet'>,
  { receipts, count }: Pick<SubmitterView, 'receipts' | 'count'>,
): JudgedNonce[] {
  const isOurs = choosesNonce(submitter)
  return groupByNonce(submitter.inFlight).map((rows): JudgedNonce => {
    const [{ nonce }] = rows
    const mined = findMined(rows, receipts, isOurs)
    if (mined) return { nonce, rows, kind: 'mined', ...mined }
    // The wallet chooses its own nonces, so the count at ours proves nothing.
    if (!isOurs) return { nonce, rows, kind: 'unknown' }
    if (nonce < count) return { nonce, rows, kind: 'passed' }
    const isUnknown = rows.some(({ hash }) => hash === undefined)
    return { nonce, rows, kind: isUnknown ? 'unknown' : 'pending' }
  })
}

type Mined = { row: TransactionRecord; receipt: ProofReceipt }

/**
 * Finds the mined one of the rows at a nonce. If a wallet sent them under
 * nonces of its own, all of them can be mined. Then a filler decides nothing,
 * and a failure counts once no row is left that may succeed.
 */
function findMined(
  rows: readonly TransactionRecord[],
  receipts: SubmitterView['receipts'],
  isOurs: boolean,
): Mined | undefined {
  const others = rows.filter(({ kind }) => kind !== 'filler')
  const deciding = isOurs || others.length === 0 ? rows : others
  const mined = deciding.flatMap((row): Mined[] => {
    const receipt = row.hash && receipts.get(row.hash)
    return receipt ? [{ row, receipt }] : []
  })
  if (isOurs) return mined[0]
  const success = mined.find(({ receipt }) => receipt.status === 'success')
  return success ?? (mined.length === deciding.length ? mined[0] : undefined)
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

/** The bump of the next transaction at a nonce; closed rows count too. Pure. */
export function nextBump(
  rows: readonly Pick<TransactionRecord, 'bump'>[],
): number {
  return rows.reduce((next, { bump }) => Math.max(next, bump + 1), 0)
}
