import { setTimeout } from 'node:timers/promises'
import type { Orders } from 'countersign/orders'

/**
 * Captures what needs no shipping as soon as its payment is stored. A capture
 * can be asked for twice: it happens once, so no cursor is kept.
 */
export async function captureAtOnce(
  orders: Orders,
  signal: AbortSignal,
): Promise<void> {
  let cursor = 0n
  while (!signal.aborted)
    try {
      const { events, ...read } = await orders.events({ after: cursor })
      for (const { type, orderId = '' } of events) {
        if (type !== 'accepted') continue
        const { metadata } = await orders.get({ orderId })
        if (metadata.capture === 'atOnce')
          await orders.capture({ orderId, timeout: 0 })
      }
      cursor = read.cursor
      await setTimeout(events.length > 0 ? 0 : 50, undefined, { signal })
    } catch {
      // A store that fails is asked again, from the same cursor on.
      await setTimeout(500, undefined, { signal }).catch(() => undefined)
    }
}
