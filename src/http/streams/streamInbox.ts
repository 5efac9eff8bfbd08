import type { OrderEvent } from '../../orders/model/orderEvents.js'
import type { Order } from '../../orders/model/types.js'

/** An event, with the order as it was read after the event. */
export type News = { event: OrderEvent; getOrder: () => Promise<Order> }

/** What came in for a stream and was not taken yet. */
export type StreamInbox = {
  put(news: News): void
  /**
   * Resolves with the news so far, or with the first to arrive. Resolves with
   * none after so many milliseconds, or when the stream is over.
   */
  take(milliseconds: number): Promise<readonly News[]>
  /** Throws away what there is, for it is on record. */
  clear(): void
  /** Whether more came than is kept; the record has it all. */
  hasMissed(): boolean
}

/** More than this one stream is not kept in memory for. */
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
