import { OrderNotFoundError } from '../../orders/model/errors.js'
import { writeCaptureRequests } from '../../orders/submitter/requestCaptures.js'
import { writeGathered } from '../../orders/verbs/writeGathered.js'
import type { OrderRecord } from '../../store/types.js'
import { exchangeKey } from './exchanges.js'
import type { GateDesk } from './types.js'

/**
 * Requests the capture of an order and returns it, unchanged if it waits for
 * the merchant's review: only `capture` of orders, which the merchant calls,
 * ends that.
 *
 * @throws {@link OrderNotFoundError} when the order belongs to others.
 */
export async function requestCapture(
  context: GateDesk['context'],
  orderId: string,
): Promise<OrderRecord> {
  const found = await writeGathered(context, {
    lock: exchangeKey(orderId),
    write: (tables) =>
      writeCaptureRequests(context, tables, [orderId], { skipsReview: true }),
  })
  const order = found.get(orderId)
  if (!order) throw new OrderNotFoundError({ orderId })
  return order
}
