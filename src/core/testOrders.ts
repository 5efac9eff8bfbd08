import { drawNonce } from './drawNonce.js'
import { InvalidFieldError, shown } from './errors.js'
import { parseOrderId } from './parseOrderId.js'

/**
 * How the id of a test order begins. The mark is in the id because every row
 * and event of an order has the id, in each schema of the database, and it
 * never changes.
 */
const prefix = 'countersign-test-'

/**
 * True for the id of a test order, or of one of its refunds. Such an order is
 * paid and captured like any other, but never fulfilled, and no webhook reports
 * its events.
 */
export function isTestOrderId(id: string | undefined): boolean {
  return id?.startsWith(prefix) === true
}

export function drawTestOrderId(): string {
  return `${prefix}${drawNonce().slice(2, 34)}`
}

/**
 * Checks the id that a caller gives to something new. Ids of test orders are
 * refused: an order that is sold must be fulfilled.
 *
 * @throws {@link InvalidFieldError} when it is no id, or one of a test order.
 */
export function parseNewId(value: unknown, field = 'orderId'): string {
  const id = parseOrderId(value, field)
  if (!isTestOrderId(id)) return id
  throw new InvalidFieldError(
    field,
    shown(value),
    `an id that does not begin with ${prefix}`,
    'Only countersign doctor --send makes such orders, which are never fulfilled.',
  )
}
