import { StoreError } from './errors.js'

/**
 * True when a call of the store for several callers may have failed because of
 * one of them, so that each should run by itself. False after a failure of the
 * database: a write may have been committed.
 */
export function isWorthAlone(error: unknown): boolean {
  return !(error instanceof StoreError && error.retryable)
}
