import type { Address } from 'viem'
import type { Order } from '../../orders/model/types.js'
import type { Orders } from '../../orders/Orders.js'
import { streamEvents } from './streamEvents.js'
import { openInbox, type StreamInbox } from './streamInbox.js'
import { streamOrder } from './streamOrder.js'
import {
  type Following,
  orderKey,
  recipientKey,
  startReader,
} from './streamReader.js'
import { openSink, type SinkLimits, type StreamSink } from './streamSink.js'

type Opening = {
  /** The id of the event that the reader says it saw last. */
  lastEventId: string | null
  /** Ends the stream when the request is gone. */
  signal: AbortSignal
}

/** Opens streams of events; nothing where there are too many already. */
export type StreamHub = {
  /** For the buyer of an order, who is known by now. */
  openOrder(
    request: Opening & { order: Pick<Order, 'id'> },
  ): Response | undefined
  /** For a merchant, of what `scoped` shows: of one order, or of all. */
  openEvents(
    request: Opening & {
      scoped: Pick<Orders, 'events' | 'get'>
      recipients: readonly Address[]
      /** One of `scoped`, as is known by now. */
      orderId?: string | undefined
    },
  ): Response | undefined
}

export type StreamLimits = SinkLimits & {
  /** Of all buyers, and of one order. */
  buyerStreams: number
  streamsAnOrder: number
  /** Of all merchants, and of one principal. */
  merchantStreams: number
  streamsAPrincipal: number
}

const usual: StreamLimits = {
  heartbeat: 15_000,
  life: 600_000,
  room: 65_536,
  patience: 30_000,
  buyerStreams: 800,
  streamsAnOrder: 4,
  merchantStreams: 200,
  streamsAPrincipal: 20,
}

/** Places for streams: `most` in all, `mostOfOne` for one reader. */
type Pool = { most: number; mostOfOne: number; open: string[] }

/** Who reads what; a merchant takes no place of an order's buyers. */
type Reading = {
  pool: Pool
  whose: string
  keys: readonly string[]
  signal: AbortSignal
}

type Stream = { sink: StreamSink; inbox: StreamInbox; following: Following }

/**
 * Lets all streams of a handler read the events together, while there is one.
 *
 * A stream sends each event at least once to a reader that comes back with the
 * last id it saw; a reader that takes nothing for too long is cut off and does just that.
 */
export function createStreamHub(
  orders: Pick<Orders, 'events' | 'get'>,
  limits: Partial<StreamLimits> = {},
): StreamHub {
  const settled = { ...usual, ...limits }
  const reader = startReader(orders)
  const buyers: Pool = {
    most: settled.buyerStreams,
    mostOfOne: settled.streamsAnOrder,
    open: [],
  }
  const merchants: Pool = {
    most: settled.merchantStreams,
    mostOfOne: settled.streamsAPrincipal,
    open: [],
  }
  const start = (
    { pool: { most, mostOfOne, open }, whose, keys, signal }: Reading,
    tell: (stream: Stream) => Promise<void>,
  ) => {
    const same = open.filter((other) => other === whose).length
    if (open.length >= most || same >= mostOfOne) return undefined
    const onHeartbeat = reader.revive
    const sink = openSink({ signal, limits: settled, onHeartbeat })
    const inbox = openInbox(sink.ended)
    const following = reader.follow(keys, inbox, sink.end)
    const leave = () => {
      open.splice(open.indexOf(whose), 1)
      following.stop()
    }
    open.push(whose)
    if (sink.ended.aborted) leave()
    else sink.ended.addEventListener('abort', leave)
    tell({ sink, inbox, following }).then(sink.end, sink.end)
    return sink.response
  }
  return {
    openOrder: ({ order, lastEventId, signal }) => {
      const key = orderKey(order.id)
      const about = { orders, orderId: order.id, lastEventId }
      const reading = { pool: buyers, whose: key, keys: [key], signal }
      return start(reading, (stream) => streamOrder({ ...about, ...stream }))
    },
    openEvents: ({ recipients, signal, ...about }) => {
      const { orderId } = about
      const own = recipients.map(recipientKey)
      const keys = orderId === undefined ? own : [orderKey(orderId)]
      const whose = own.sort().join()
      const reading = { pool: merchants, whose, keys, signal }
      return start(reading, (stream) => streamEvents({ ...about, ...stream }))
    },
  }
}
