import { SealerUnavailableError, StoreError } from './errors.js'

/**
 * True when the error is temporary: the sealer failed, or its key could not be
 * fetched. The caller tries this secret again later, and continues with other
 * secrets.
 */
export function isKeyAway(
  error: unknown,
): error is StoreError | SealerUnavailableError {
  if (error instanceof SealerUnavailableError) return true
  return error instanceof StoreError && error.retryable
}
