import { SealerUnavailableError, StoreError } from './errors.js'

/**
 * True when a secret may be sealed or opened later: the sealer failed, or its
 * key could not be fetched. Work with other secrets continues.
 */
export function isKeyAway(
  error: unknown,
): error is StoreError | SealerUnavailableError {
  if (error instanceof SealerUnavailableError) return true
  return error instanceof StoreError && error.retryable
}
