import { StoreError } from './errors.js'

/**
 * True when a seal may open later, because only fetching its key failed. Work
 * with other keys continues.
 */
export function isKeyAway(error: unknown): error is StoreError {
  return error instanceof StoreError && error.retryable
}
