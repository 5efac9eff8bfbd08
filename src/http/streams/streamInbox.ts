import type { Order, OrderEvent } from '../../orders/index.js'

/** An event, and a function that loads the order it belongs to. */
export type News = { event: OrderEvent; getOrder: () => Promise<Order> }

/** Events that wait in memory to be sent to one client. */
export type StreamInbox = {
  put(news: News): void
  /**
   * Resolves with the waiting events. If none waits, resolves with the next to
   * arrive, or with an empty list after `milliseconds` or when the stream ends.
   */
  take(milliseconds: number): Promise<readonly News[]>
  /** Drops all waiting events, which can still be read from the database. */
  clear(): void
  /** True when the inbox was full and dropped events. */
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
