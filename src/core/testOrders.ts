import { drawNonce } from './drawNonce.js'
import { InvalidFieldError, shown } from './errors.js'
import { parseMovementId } from './movementIds.js'
import { parseOrderId } from './parseOrderId.js'

/**
 * The id of a test order begins with this text. The id is the only mark that
 * every row and event of an order has, in each version of the tables, and that
 * never changes.
 */
const prefix = 'countersign-test-'

/**
 * True for the id of a test order, which `doctor --send` makes, and for its
 * refunds. A test order is paid and captured like any other, but never
 * fulfilled, and no webhook reports its events.
 */
export function isTestOrderId(id: string | undefined): boolean {
  return id?.startsWith(prefix) === true
}

export function drawTestOrderId(): string {
  return `${prefix}${drawNonce().slice(2, 34)}`
}

/**
 * Checks the id that a caller gives to a new order or refund. Refuses the id of
 * a test order, because test orders are never fulfilled, and the form of ids
 * that movements of channels have.
 *
 * @throws {@link InvalidFieldError} when it is no valid id, or one of a test
 * order or of a movement.
 */
export function parseNewId(value: unknown, field = 'orderId'): string {
  const id = parseOrderId(value, field)
  if (parseMovementId(id))
    throw new InvalidFieldError(
      field,
      shown(value),
      'an id that does not have the form of those of channels',
    )
  if (!isTestOrderId(id)) return id
  throw new InvalidFieldError(
    field,
    shown(value),
    `an id that does not begin with ${prefix}`,
    'Only countersign doctor --send makes such orders, which are never fulfilled.',
  )
}
