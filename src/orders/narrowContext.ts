import type { Address } from 'viem'
import { readCheckedAddress } from '../chain/logs/encodeLogFilter.js'
import { InvalidFieldError } from '../core/errors.js'
import type { OrdersContext } from './model/types.js'

/**
 * The same orders as far as they are paid to these recipients; nothing of any
 * other is read or written.
 *
 * @throws {@link InvalidFieldError} when an address is malformed.
 */
export function narrowContext(
  context: OrdersContext,
  recipients: readonly Address[],
): OrdersContext {
  if (!Array.isArray(recipients))
    throw new InvalidFieldError('recipients', recipients, 'a list')
  const wanted = new Set(
    recipients.map((address, index) =>
      readCheckedAddress(address, `recipients[${index}]`),
    ),
  )
  return {
    ...context,
    recipients: context.recipients.filter((address) => wanted.has(address)),
    destinations: context.destinations.filter(({ recipient }) =>
      wanted.has(recipient),
    ),
  }
}
