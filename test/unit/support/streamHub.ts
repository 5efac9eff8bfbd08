import { afterEach, vi } from 'vitest'
import {
  createStreamHub,
  type StreamHub,
  type StreamLimits,
} from '../../../src/http/streams/streamHub.js'
import { fakeOrders, recipientOf } from './fakeOrders.js'
import { type FrameReader, readFrames } from './readFrames.js'

export const gone = new AbortController()
afterEach(() => vi.useRealTimers())

export function openHub(limits: Partial<StreamLimits> = {}) {
  const orders = fakeOrders()
  const hub = createStreamHub(orders, limits)
  return { orders, hub }
}

/** A buyer's stream, which ends with the test file at the latest. */
export function openOrder(
  hub: StreamHub,
  id: string,
  lastEventId: string | null = null,
  signal: AbortSignal = gone.signal,
): FrameReader {
  return readFrames(hub.openOrder({ order: { id }, lastEventId, signal }))
}

export function openEvents(
  hub: StreamHub,
  orders: ReturnType<typeof fakeOrders>,
  options: {
    lastEventId?: string
    recipients?: string[]
    orderId?: string
  } = {},
): FrameReader {
  const { lastEventId = null, recipients = ['a'], orderId } = options
  const own = recipients.map(recipientOf)
  // What `within` makes of the orders.
  const scoped: typeof orders = {
    ...orders,
    events: async (query) => {
      const { events, cursor } = await orders.events(query)
      const seen = events.filter(({ recipient }) => own.includes(recipient))
      return { events: seen, cursor: seen.at(-1)?.cursor ?? cursor }
    },
  }
  const { signal } = gone
  return readFrames(
    hub.openEvents({ scoped, recipients: own, orderId, lastEventId, signal }),
  )
}

export const ids = (frames: readonly { id?: string; event?: string }[]) =>
  frames.map(({ id, event }) => `${id} ${event}`)
