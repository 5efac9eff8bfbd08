import {
  atRiskLock,
  type EarlyLimits,
  writeCaptureRequests,
  writeGathered,
} from '../../orders/engine.js'
import { OrderNotFoundError } from '../../orders/index.js'
import type { OrderRecord } from '../../store/types.js'
import { exchangeKey } from './exchanges.js'
import type { GateContext } from './types.js'

/**
 * Requests the capture of an order and returns the order. An order that the
 * merchant must review stays unchanged: only the merchant's own call of
 * `capture` ends the review.
 *
 * @param early limits for an answer before a block has the capture, if one is
 * wanted.
 *
 * @param early limits for an answer at `preconfirmed`, if one is wanted.
 * @throws {@link OrderNotFoundError} when the order belongs to other
 * recipients.
 */
export async function requestCapture(
  context: GateContext['context'],
  orderId: string,
  early: EarlyLimits | undefined,
): Promise<OrderRecord> {
  const found = await writeGathered(context, {
    locks: early ? [atRiskLock, exchangeKey(orderId)] : [exchangeKey(orderId)],
    write: (tables) =>
      writeCaptureRequests(context, tables, [orderId], {
        skipsReview: true,
        early: new Map(early && [[orderId, early]]),
      }),
  })
  const order = found.get(orderId)
  if (!order) throw new OrderNotFoundError({ orderId })
  return order
}
