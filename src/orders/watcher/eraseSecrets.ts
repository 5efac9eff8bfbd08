import { noChanges } from '../model/changes.js'
import type { Step } from '../model/orderFiles.js'

/**
 * Forgets the credentials of an order that is finally decided: whoever reads
 * the database later finds none. Bytes still on their way are the submitter's.
 */
export const eraseSecrets: Step = ({ attempts, transactions }) => ({
  ...noChanges(),
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
    .filter(({ inFlight, raw }) => !inFlight && raw !== undefined)
    .map((sent) => ({ ...sent, raw: undefined })),
})
