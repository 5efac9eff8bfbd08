import { StoreError } from '../store/errors.js'
import { observeFailure } from './observeFailure.js'
import type { Observation, OrdersContext } from './types.js'

/**
 * Whether a seal may well open later, as the function that gives its key failed:
 * one key that cannot be reached stops nothing that is sealed with another.
 */
export function waitsForKey(
  context: Pick<OrdersContext, 'observe'>,
  about: Observation['attributes'],
  error: unknown,
): boolean {
  const isLater = error instanceof StoreError && error.retryable
  if (isLater) observeFailure(context, 'lane.failed', { about, error })
  return isLater
}
