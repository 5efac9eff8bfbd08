import type { TransactionRecord } from '../../store/types.js'
import type { Step } from './collectChanges.js'

/**
 * Erases the credentials of an order whose end is final, so that nobody who
 * reads the database later finds any. Keeps the bytes of transactions in flight:
 * the submitter still sends them.
 *
 * @param transactions rows of other orders are ignored.
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
