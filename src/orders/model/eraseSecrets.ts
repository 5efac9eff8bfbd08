import type { TransactionRecord } from '../../store/types.js'
import type { Step } from './collectChanges.js'

/**
 * Forgets the credentials of an order that is finally decided, so that nobody
 * who reads the database later finds any. Bytes that are still being sent are
 * the submitter's.
 *
 * @param transactions of this order, and perhaps of others.
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
