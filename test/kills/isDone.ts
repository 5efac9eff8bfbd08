import type { Order } from 'countersign/orders'

/** Whether a worker has nothing left to find out about an order soon. */
export function isDone({ state, capture, cancellation }: Order): boolean {
  if (state === 'captured') return capture?.finality === 'finalized'
  if (state === 'canceled') return cancellation?.finality === 'finalized'
  return state === 'expired' || state === 'consumed'
}

/** How sure the chain is of what settled an order, if anything did. */
export function finalityOf({
  capture,
  cancellation,
}: Pick<Order, 'capture' | 'cancellation'>): string | undefined {
  return (capture ?? cancellation)?.finality
}
