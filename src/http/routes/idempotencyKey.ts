import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseNewId } from '../../core/testOrders.js'
import type { ProblemReason } from '../schemas/problemTable.js'
import { RequestRefusedError } from './errors.js'

/**
 * Returns the `Idempotency-Key`, which becomes the id of what is drafted.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseKey(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  // URLs remove these segments, so no route could reach the order.
  if (key === '.' || key === '..')
    throw new InvalidFieldError(
      'Idempotency-Key',
      shown(key),
      'an id that can be in a path, unlike "." and ".."',
    )
  try {
    return parseNewId(key)
  } catch {
    throw new InvalidFieldError(
      'Idempotency-Key',
      key,
      'text of 1 to 128 characters that is no id of a test order',
    )
  }
}

/**
 * Turns a refused id into a problem. The key was well formed, so the id is in
 * use.
 */
export function refuseUsedId(
  field: 'orderId' | 'subscriptionId',
  reason: ProblemReason,
): (error: unknown) => never {
  return (error) => {
    const isId =
      error instanceof InvalidFieldError && error.details.field === field
    throw isId ? new RequestRefusedError(reason) : error
  }
}
