import type { Address } from 'viem'
import { onAbort } from '../../core/onAbort.js'
import type { Order, Orders } from '../../orders/index.js'
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
  /**
   * The header `Last-Event-ID`: id of the last event that the client got before
   * it reconnected. `null` if it was not sent.
   */
  lastEventId: string | null
  /** Ends the stream when the client disconnects. */
  signal: AbortSignal
}

/** Opens streams of events. Returns `undefined` when too many are open. */
export type StreamHub = {
  /** Opens a stream for a buyer. The caller has checked the buyer's token. */
  openOrder(
    request: Opening & { order: Pick<Order, 'id'> },
  ): Response | undefined
  /**
   * Opens a stream for a merchant: of one order, or of all orders in `scoped`.
   */
  openEvents(
    request: Opening & {
      scoped: Pick<Orders, 'events' | 'get'>
      recipients: readonly Address[]
      /**
       * Absent for all orders. The caller has checked that `scoped` contains
       * the order.
       */
      orderId?: string | undefined
    },
  ): Response | undefined
}

export type StreamLimits = SinkLimits & {
  /** Most open streams of all buyers, and of one order. */
  buyerStreams: number
  streamsAnOrder: number
  /** Most open streams of all merchants, and of one principal. */
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

/**
 * Limits open streams: `most` in total, and `mostOfOne` for each order or
 * merchant.
 */
type Pool = { most: number; mostOfOne: number; open: string[] }

/**
 * A client that opens a stream, and the pool that counts it. `keys` name the
 * orders or recipients whose events it gets.
 */
type Reading = {
  pool: Pool
  whose: string
  keys: readonly string[]
  signal: AbortSignal
}

type Stream = { sink: StreamSink; inbox: StreamInbox; following: Following }

/**
 * Creates the streams of a handler. Events are read from the database once for
 * all streams, as long as any is open.
 *
 * A client that reconnects with the last id it got receives each later event at
 * least once. A client that reads nothing for too long is disconnected, and can
 * reconnect.
 */
export function createStreamHub(
  orders: Pick<Orders, 'events' | 'get'>,
  {
    stopping,
    ...limits
  }: Partial<StreamLimits> & {
    /** Ends all streams when it aborts. */
    stopping?: AbortSignal | undefined
  } = {},
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
      forget?.()
    }
    open.push(whose)
    const forget = stopping && onAbort(stopping, sink.end)
    if (stopping?.aborted) sink.end()
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
