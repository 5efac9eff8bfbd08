import type { Order, OrderEvent } from '../../orders/index.js'

/** An event, and a function that loads its order. */
export type News = { event: OrderEvent; getOrder: () => Promise<Order> }

/** Events that arrived for a stream and were not taken yet. */
export type StreamInbox = {
  put(news: News): void
  /**
   * Resolves with the waiting events; if there are none, with the next to
   * arrive. Resolves with an empty list after this many milliseconds, or when
   * the stream ends.
   */
  take(milliseconds: number): Promise<readonly News[]>
  /** Drops all waiting events; the database has them. */
  clear(): void
  /** True when the inbox overflowed and dropped events. */
  hasMissed(): boolean
}

/** Most events kept in memory for one stream. */
const most = 2_000

export function openInbox(ended: AbortSignal): StreamInbox {
  let kept: News[] = []
  let missed = false
  let tell: () => void = () => undefined
  ended.addEventListener('abort', () => tell())
  return {
    put: (news) => {
      if (kept.length < most) kept.push(news)
      else missed = true
      tell()
    },
    take: async (milliseconds) => {
      if (!kept.length && !missed && !ended.aborted)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds)
          tell = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const taken = kept
      kept = []
      return taken
    },
    clear: () => {
      kept = []
      missed = false
    },
    hasMissed: () => missed,
  }
}
