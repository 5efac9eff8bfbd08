import { addAll } from '../../core/addAll.js'
import type { Order, OrderEvent, Orders } from '../../orders/index.js'
import { buyerOrder } from '../schemas/buyerOrder.js'
import { buyerEventTypes } from '../schemas/eventSchemas.js'
import { watchEnd } from './streamEnd.js'
import { parseCursor } from './streamEvents.js'
import { followNews } from './streamFollow.js'
import { streamFrame } from './streamFrame.js'
import type { News, StreamInbox } from './streamInbox.js'
import { type Following, showNews } from './streamReader.js'
import { retryUntil } from './streamRetry.js'
import type { StreamSink } from './streamSink.js'

export type StreamOrderParameters = {
  orders: Pick<Orders, 'events' | 'get'>
  orderId: string
  /**
   * Number of the last event that the client got: events of an order count from
   * 1.
   */
  lastEventId: string | null
  sink: StreamSink
  inbox: StreamInbox
  following: Following
}

/** Most events that one query of the database loads. */
const limit = 1_000

/**
 * Sends a buyer the present state of the order, and then every event of it.
 * Sends `end` as the last event, once no important one can follow.
 */
export async function streamOrder(
  parameters: StreamOrderParameters,
): Promise<void> {
  const { orders, orderId, lastEventId, ...stream } = parameters
  const { sink } = stream
  const read = async (after: bigint) => {
    const { events } = await orders.events({ orderId, after, limit })
    return showNews(orders, events)
  }
  const end = watchEnd()
  const tell = async (news: News): Promise<void> => {
    if (!buyerEventTypes.includes(news.event.type)) return
    const order = await retryUntil(sink.ended, news.getOrder)
    if (order) sink.write(frameOf(news.event, order))
  }
  const past = await readPast(sink, read)
  const last = past.at(-1)
  const order = last && (await retryUntil(sink.ended, last.getOrder))
  if (!last || !order) return
  const { sequence, cursor, at } = last.event
  const asked = parseCursor(lastEventId) ?? BigInt(sequence)
  const from = asked < sequence ? Number(asked) : sequence
  sink.write(frameOf({ sequence: from, type: 'status', at }, order))
  for (const news of past) {
    end.note(news.event)
    if (news.event.sequence <= from) continue
    await sink.waitForRoom()
    await tell(news)
  }
  const tellEnd = async (news: News): Promise<void> => {
    const last = await retryUntil(sink.ended, news.getOrder)
    const { sequence, at } = news.event
    if (last) sink.write(frameOf({ sequence, type: 'end', at }, last))
    sink.end()
  }
  if (end.isReached()) return tellEnd(last)
  await followNews({
    ...stream,
    after: cursor,
    read,
    tell: async (news) => {
      await tell(news)
      end.note(news.event)
      if (end.isReached()) await tellEnd(news)
    },
  })
}

/** Loads all events of the order from the database. */
async function readPast(
  { ended }: StreamSink,
  read: (after: bigint) => Promise<News[]>,
): Promise<News[]> {
  const past: News[] = []
  for (;;) {
    const after = past.at(-1)?.event.cursor ?? 0n
    const page = await retryUntil(ended, () => read(after))
    addAll(past, page ?? [])
    if (!page || page.length < limit) return past
  }
}

type Shown = Pick<OrderEvent, 'sequence' | 'at'> & { type: string }

function frameOf({ sequence, type, at }: Shown, order: Order): string {
  const data = { type, at, order: buyerOrder(order) }
  return streamFrame({ id: sequence, event: type, data })
}
