import type { Movement, TransactionRecord } from '../store/types.js'
import type { MovementRow, TransactionRow } from './tables/sqlTables.js'

/** Splits what a transaction carries into the columns of its row. */
export function toRow<record extends Omit<TransactionRecord, 'version'>>({
  movements,
  ...row
}: record): Omit<record, 'movements'> &
  Pick<TransactionRow, 'orderId' | 'attempt' | 'further'> {
  const [first, ...others] = movements
  return {
    ...row,
    orderId: first?.orderId,
    attempt: first?.attempt,
    further: others.length > 0 ? others : undefined,
  }
}

export function toRecord({
  orderId,
  attempt,
  further = [],
  ...row
}: TransactionRow): TransactionRecord {
  const first: Movement[] =
    orderId === undefined || attempt === undefined ? [] : [{ orderId, attempt }]
  return { ...row, movements: [...first, ...further] }
}

/** Returns the rows of `movements`: one for each order after the first. */
export function furtherRows(
  records: readonly Omit<TransactionRecord, 'version'>[],
): MovementRow[] {
  return records.flatMap(({ chainId, account, nonce, bump, movements }) => {
    const [first, ...others] = movements.map(({ orderId }) => orderId)
    const ids = new Set(others)
    ids.delete(first ?? '')
    return [...ids].map((orderId) => {
      return { orderId, chainId, account, nonce, bump }
    })
  })
}
