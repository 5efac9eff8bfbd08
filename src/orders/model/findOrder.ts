import { InvalidFieldError } from '../../core/errors.js'
import type {
  AttemptQuery,
  AttemptRecord,
  Destination,
  OrderQuery,
  OrderRecord,
  ProofQuery,
  ProofRecord,
  Reader,
} from '../../store/types.js'
import { OrderNotFoundError } from './errors.js'
import type { OrdersContext } from './types.js'

/** An order with its newest attempt, and all that is on record beside it. */
export type FoundOrder = {
  order: OrderRecord
  attempt: AttemptRecord
  attempts: readonly AttemptRecord[]
  proofs: readonly ProofRecord[]
}

/** What an order is read from, in a read as in a write. */
type OrderTables = {
  orders: Reader<OrderRecord, OrderQuery>
  attempts: Reader<AttemptRecord, AttemptQuery>
  proofs: Reader<ProofRecord, ProofQuery>
}

/**
 * Reads an order that this instance answers for.
 *
 * @param isShown decides by the order alone, before anything else is read: one
 * that is kept from who asks takes no longer than one that is not there.
 * @throws {@link OrderNotFoundError} for any other.
 */
export async function findOrder(
  tables: OrderTables,
  context: Pick<OrdersContext, 'destinations'>,
  orderId: string,
  isShown: (order: OrderRecord) => boolean = () => true,
): Promise<FoundOrder> {
  const id = readOrderId(orderId)
  const [order] = await tables.orders.find({ ids: [id] })
  if (!order || !isInDestinations(context, order) || !isShown(order))
    throw new OrderNotFoundError({ orderId: id })
  const attempts = await tables.attempts.find({ orderIds: [id] })
  const attempt = attempts.find(({ number }) => number === order.attempt)
  if (!attempt) throw new OrderNotFoundError({ orderId: id })
  const proofs = await tables.proofs.find({ orderIds: [id] })
  return { order, attempt, attempts, proofs }
}

/** Whether a row belongs to what this instance answers for. */
export function isInDestinations(
  { destinations }: Pick<OrdersContext, 'destinations'>,
  row: Destination,
): boolean {
  return destinations.some(
    ({ chainId, token, recipient }) =>
      chainId === row.chainId &&
      token === row.token &&
      recipient === row.recipient,
  )
}

/**
 * An id that every store and every log line can hold.
 *
 * @throws {@link InvalidFieldError}
 */
export function readOrderId(value: unknown): string {
  const fits =
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= 128 &&
    // Half of a surrogate pair is no text: stores would keep another id.
    !/[\p{Cc}\p{Cs}]/u.test(value)
  if (!fits)
    throw new InvalidFieldError(
      'orderId',
      value,
      'text of 1 to 128 characters without control characters',
    )
  return value
}
