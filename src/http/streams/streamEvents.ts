import type { Orders } from '../../orders/index.js'
import type { StreamStatus } from '../schemas/answerTypes.js'
import { followNews } from './streamFollow.js'
import { streamFrame } from './streamFrame.js'
import type { StreamInbox } from './streamInbox.js'
import { type Following, showNews } from './streamReader.js'
import { retryUntil } from './streamRetry.js'
import type { StreamSink } from './streamSink.js'

export type StreamEventsParameters = {
  /** Access to the events and orders of the merchant's recipients only. */
  scoped: Pick<Orders, 'events' | 'get'>
  /**
   * The order whose events to send. Absent to send the events of all orders.
   */
  orderId?: string | undefined
  /**
   * Cursor after which to begin. Without it, the stream begins after the newest
   * event.
   */
  lastEventId: string | null
  sink: StreamSink
  inbox: StreamInbox
  following: Following
}

/** Sends a merchant every event of their recipients, or of one order. */
export async function streamEvents(
  parameters: StreamEventsParameters,
): Promise<void> {
  const { scoped, orderId, lastEventId, ...stream } = parameters
  const { sink } = stream
  const latest = await retryUntil(sink.ended, () =>
    scoped.events({ orderId, after: 'latest' }),
  )
  if (!latest) return
  const after = parseCursor(lastEventId) ?? latest.cursor
  // Sends an event with an id at once. A client that loses the connection
  // before the first real event reconnects with this id, and misses nothing.
  // The frame carries data because `EventSource` ignores events without data.
  const status: StreamStatus = { type: 'status', cursor: after }
  sink.write(streamFrame({ id: after, event: status.type, data: status }))
  await followNews({
    ...stream,
    after,
    read: async (from) => {
      const { events } = await scoped.events({ orderId, after: from })
      return showNews(scoped, events)
    },
    tell: async ({ event }) =>
      sink.write(
        streamFrame({ id: event.cursor, event: event.type, data: event }),
      ),
  })
}

/** Parses an event id as a cursor; `undefined` for any other text. */
export function parseCursor(text: string | null): bigint | undefined {
  return text !== null && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined
}
