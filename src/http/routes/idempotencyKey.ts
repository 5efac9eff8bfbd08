import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseNewId } from '../../core/testOrders.js'
import type { ProblemReason } from '../schemas/problemTable.js'
import { RequestRefusedError } from './errors.js'

/**
 * Returns the `Idempotency-Key` of a request. It becomes the id of the order or
 * subscription that the request drafts.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseKey(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  // Browsers and fetch remove the path segments `.` and `..` from a URL, so no
  // request could reach an order with such an id.
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
 * Turns the error about a refused id into a problem response. `parseKey` has
 * already checked the form of the id, so it can only be refused because it is
 * in use.
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
