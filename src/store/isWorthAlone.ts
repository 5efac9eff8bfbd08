import { StoreError } from './errors.js'

/**
 * True when a transaction for several callers may have failed because of one of
 * them, so that each should run by itself. After a failure of the database
 * nobody knows whether the transaction was committed: do not run it again.
 */
export function isWorthAlone(error: unknown): boolean {
  return !(error instanceof StoreError && error.retryable)
}
