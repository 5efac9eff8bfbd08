import type { EventsQuery } from '../schemas/querySchemas.js'
import { parseCursor } from '../streams/streamEvents.js'
import { problem } from './problem.js'
import type { MerchantCall } from './route.js'

/**
 * Opens the merchant's stream of events.
 *
 * @throws {@link OrderNotFoundError} for an order of another recipient.
 * @throws {@link CursorAheadError} when the cursor is after the newest event.
 */
export async function followForMerchant(
  call: MerchantCall & { query: EventsQuery },
): Promise<Response> {
  const { hub, orders: scoped, recipients, request, query } = call
  const { headers, signal } = request
  const { after = null, orderId } = query
  if (orderId !== undefined) await scoped.get({ orderId })
  const lastEventId = headers.get('last-event-id') ?? after
  const cursor = parseCursor(lastEventId)
  // Checks the cursor before the stream opens. After that the HTTP status is
  // already sent, and cannot report a wrong cursor any more.
  if (cursor !== undefined)
    await scoped.events({ orderId, after: cursor, limit: 1 })
  const about = { scoped, recipients, orderId, lastEventId, signal }
  return hub.openEvents(about) ?? problem('tooManyStreams')
}
