import { carries, ordersOf } from '../../store/movements.js'
import type { StoreReader, TransactionRecord } from '../../store/types.js'
import type { ChangeSet, Step } from './collectChanges.js'
import { loadTransactions } from './loadOrders.js'

/**
 * Erases the signatures and other credentials of an order that a final block
 * settled, so that nobody can take them from the database later. Keeps the
 * bytes of transactions in flight, because the submitter still sends them.
 *
 * @param transactions those of {@link loadFinal}. Rows of other orders are
 * ignored.
 */
export function eraseSecrets(transactions: readonly TransactionRecord[]): Step {
  return ({ order, attempts }) => ({
    attempts: attempts
      .filter(
        ({ signature, cancellation }) =>
          signature !== undefined || cancellation !== undefined,
      )
      .map((attempt) => ({
        ...attempt,
        signature: undefined,
        cancellation: undefined,
      })),
    transactions: transactions
      .filter(
        (sent) =>
          carries(sent, order.id) && !sent.inFlight && sent.raw !== undefined,
      )
      .map((sent) => ({ ...sent, raw: undefined })),
  })
}

/** Tables of a read or a write. */
type FinalTables = {
  transactions: StoreReader['transactions']
  orders: Pick<StoreReader['orders'], 'find'>
}

/**
 * Loads the transactions of orders that become final. Leaves out one
 * that also carries an order that is not final: a reorganization could make us
 * send it again.
 */
export async function loadFinal(
  tables: FinalTables,
  orderIds: readonly string[],
): Promise<TransactionRecord[]> {
  const sent = await loadTransactions(tables, orderIds)
  const ids = ordersOf(sent).filter((id) => !orderIds.includes(id))
  if (ids.length === 0) return sent
  const open = (await tables.orders.find({ ids })).filter(
    ({ finality }) => finality !== 'finalized',
  )
  return sent.filter((row) => !open.some(({ id }) => carries(row, id)))
}

/**
 * Erases the credentials of those of the given orders that a final block
 * settled.
 */
export async function eraseFinal(
  tables: FinalTables,
  collected: ChangeSet,
  orderIds: readonly string[],
): Promise<void> {
  const final = orderIds.filter(
    (id) => collected.find(id)?.order.finality === 'finalized',
  )
  const sent = await loadFinal(tables, final)
  for (const id of final) collected.apply(id, [eraseSecrets(sent)])
}
