import type { StoreReader, TransactionRecord } from '../../store/types.js'
import type { ChangeSet, Step } from './collectChanges.js'
import { loadTransactions } from './loadOrders.js'

/**
 * Erases the signatures and other credentials of an order that a final block
 * settled, so that nobody can take them from the database later. Keeps the
 * bytes of transactions in flight, because the submitter still sends them.
 *
 * @param transactions may contain rows of other orders; they are ignored.
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
        ({ orderId, inFlight, raw }) =>
          orderId === order.id && !inFlight && raw !== undefined,
      )
      .map((sent) => ({ ...sent, raw: undefined })),
  })
}

/**
 * Erases the credentials of those of the given orders that a final block
 * settled.
 */
export async function eraseFinal(
  tables: Pick<StoreReader, 'transactions'>,
  collected: ChangeSet,
  orderIds: readonly string[],
): Promise<void> {
  const final = orderIds.filter(
    (id) => collected.find(id)?.order.finality === 'finalized',
  )
  const sent = await loadTransactions(tables, final)
  for (const id of final) collected.apply(id, [eraseSecrets(sent)])
}
