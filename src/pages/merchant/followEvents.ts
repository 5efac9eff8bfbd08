import { ProblemError } from '../../client/errors.js'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import { wait } from '../../core/wait.js'
import type { MerchantApi } from './merchantApi.js'

export type FollowEventsParameters = {
  api: MerchantApi
  /** Follows only this order. Without it, follows all orders. */
  orderId?: string | undefined
  /**
   * Cursor of the last known event. Without it, only new events are reported.
   */
  after?: string | undefined
  signal: AbortSignal
  onEvent: (event: MerchantEvent) => void
  /**
   * Called when the stream opens without a cursor. It then reports all new
   * events, but none of the earlier ones.
   */
  onPresent?: (() => void) | undefined
  /**
   * Called with true when the stream is open, and with false when it is lost.
   */
  onConnection: (isLive: boolean) => void
}

/**
 * Reports every event of the merchant or of one order. Reconnects after a
 * failure and continues after the last event.
 */
export async function followEvents({
  api,
  orderId,
  signal,
  onEvent,
  onPresent,
  onConnection,
  ...given
}: FollowEventsParameters): Promise<void> {
  let { after } = given
  while (!signal.aborted) {
    try {
      const events = api.follow({
        orderId,
        after,
        signal,
        onOpen: (cursor) => {
          onConnection(true)
          if (after === undefined) onPresent?.()
          after = cursor
        },
        onRetry: () => onConnection(false),
      })
      for await (const event of events) {
        after = event.cursor
        onEvent(event)
      }
    } catch (error) {
      // An order that is not found now is never found. Retry after other
      // errors.
      if (error instanceof ProblemError && error.status === 404) return
      // The shop has another database now: report only its new events.
      if (error instanceof ProblemError && error.reason === 'cursorAhead')
        after = undefined
    }
    if (signal.aborted) return
    onConnection(false)
    await wait(2_000, signal)
  }
}
