import { ProblemError } from '../../client/errors.js'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import { wait } from '../../core/wait.js'
import type { MerchantApi } from './merchantApi.js'

export type FollowEventsParameters = {
  api: MerchantApi
  /** The only one to be told of; without it, all are. */
  orderId?: string | undefined
  /** Cursor to go on from; without one, from the present. */
  after?: string | undefined
  signal: AbortSignal
  onEvent: (event: MerchantEvent) => void
  /** Told once all that comes from now on is told; what was before is not. */
  onPresent?: (() => void) | undefined
  /** Told when the stream stands, and when it has to be opened anew. */
  onConnection: (isLive: boolean) => void
}

/** Tells every event of the merchant or of one order, and comes back where it was cut off. */
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
      // An order that is not there will not be; all else is asked again below.
      if (error instanceof ProblemError && error.status === 404) return
      // The shop's database is another one: it is followed from the present on.
      if (error instanceof ProblemError && error.reason === 'cursorAhead')
        after = undefined
    }
    if (signal.aborted) return
    onConnection(false)
    await wait(2_000, signal)
  }
}
