import { expect } from 'vitest'
import type { Receiver } from './webhooksReceiver.js'
import type { Stream } from './webhooksStream.js'

/** Has taken them all, each order's in order, and how often each. */
export function checkTold(
  { received }: Pick<Receiver, 'received'>,
  isTaken: (index: number) => boolean = () => true,
): number[] {
  const counts = new Map<string, number>()
  const highest = new Map<string | undefined, number>()
  for (const [index, { payload, headers }] of received.entries()) {
    const { orderId, sequence } = payload.data
    // What is tried has never more than its turn.
    expect(sequence).toBeLessThanOrEqual((highest.get(orderId) ?? 0) + 1)
    if (!isTaken(index)) continue
    highest.set(orderId, Math.max(sequence, highest.get(orderId) ?? 0))
    const id = String(headers['webhook-id'])
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return [...counts.values()]
}

/** Three events of each order, in turns. */
export async function tellOrders(
  stream: Pick<Stream, 'tell'>,
  orders: number,
): Promise<void> {
  for (const type of ['drafted', 'accepted', 'captured'] as const)
    for (let order = 0; order < orders; order++)
      await stream.tell(`order-${order}`, type)
}
