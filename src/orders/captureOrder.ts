import type { LaneEngine } from './driveLanes.js'
import { type FoundOrder, readOrderId } from './findOrder.js'
import { showOrder } from './showOrder.js'
import type { CaptureResult, OrdersContext } from './types.js'
import { isDecided } from './waitForOrders.js'

export type CaptureOrderParameters = {
  orderId: string
  /** Milliseconds to wait for a result. @default 60_000 */
  timeout?: number | undefined
}

/**
 * Captures an order exactly once, and tells what the chain took. While it is
 * under way, or decided, a second call gets the first one's result; what was
 * rejected and is still open may be asked for again.
 *
 * `unknown` is no failure: the wish is kept, and `run` or another call goes on
 * with it. A captured order is no fulfilment: that comes by its event.
 *
 * @throws {@link OrderNotFoundError}
 */
export async function captureOrder(
  context: OrdersContext,
  engine: LaneEngine,
  { orderId, timeout = 60_000 }: CaptureOrderParameters,
): Promise<CaptureResult> {
  const asked = await engine.wish(readOrderId(orderId))
  if (isDecided(asked.order)) return readResult(asked)
  const found = await engine.waitFor(asked.order, timeout)
  return found ? readResult(found) : readOpenResult(context, asked)
}

function readResult(found: FoundOrder): CaptureResult {
  const order = showOrder(found)
  const { capture } = order
  if (capture) return { status: 'captured', order, proof: capture }
  return { status: 'rejected', order, reason: readReason(found) }
}

function readReason({ order: { state, reason } }: FoundOrder): string {
  if (state === 'canceled' || state === 'expired' || state === 'consumed')
    return state
  return state === 'stored' ? (reason ?? 'notOpen') : 'notOpen'
}

/** What is known when the time to wait is over. */
async function readOpenResult(
  { store }: OrdersContext,
  asked: FoundOrder,
): Promise<CaptureResult> {
  const { id } = asked.order
  const orderIds = [id]
  const { order = asked.order, sent } = await store.read(async (tables) => {
    const [order] = await tables.orders.find({ ids: orderIds })
    return { order, sent: await tables.transactions.find({ orderIds }) }
  })
  const open = sent.filter((row) => row.open)
  const { attempt } = asked
  return {
    status: 'unknown',
    order: showOrder({ ...asked, order }),
    resolvedBy:
      open.length === 0
        ? 'worker'
        : open.some(({ hash }) => hash === undefined)
          ? 'window'
          : 'chain',
    until: attempt.signedBefore ?? attempt.validBefore,
  }
}
