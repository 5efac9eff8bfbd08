import { StoreError } from './errors.js'

/**
 * True when a seal may open later because the function that returns its key
 * failed. Work with other keys goes on.
 */
export function isKeyAway(error: unknown): error is StoreError {
  return error instanceof StoreError && error.retryable
}
