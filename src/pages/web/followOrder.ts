import type { BuyerClient, BuyerState } from '../../client/BuyerClient.js'
import { ProblemError } from '../../client/errors.js'
import { isSettled } from '../../client/isSettled.js'
import { wait } from '../../core/wait.js'

type FollowOrderParameters = {
  onNews: (news: { type: string; at: number; order: BuyerState }) => void
  onReachable: (isReachable: boolean) => void
  signal: AbortSignal
}

/** Milliseconds at most until an order that is almost final is read again. */
const slowest = 5_000

/** Milliseconds between two looks at an order whose payment is final. */
const refundCheck = 30_000

/**
 * Reports all past and new events of an order, from its first one on.
 * Reconnects when the connection is lost, until the signal aborts.
 *
 * @throws {@link ProblemError} when there is no such order for this buyer.
 */
export async function followOrder(
  buyer: BuyerClient,
  { onNews, onReachable, signal }: FollowOrderParameters,
): Promise<void> {
  const onOpen = () => onReachable(true)
  let after = '0'
  for (let looks = 0; !signal.aborted; looks++) {
    let isOver = false
    try {
      for await (const { id, type, at, order } of buyer.follow({
        after,
        onOpen,
        signal,
      })) {
        after = id
        if (type !== 'status') looks = 0
        onNews({ type, at: Math.floor(Number(at) / 1_000), order })
        isOver = isSettled(order)
        if (isOver) break
      }
    } catch (error) {
      // Anything else may pass; an order that is not there stays so.
      if (error instanceof ProblemError && error.status === 404) throw error
      if (signal.aborted) return
      onReachable(false)
    }
    // The stream ends at the finality the shop fulfils at; the last comes later,
    // and refunds much later.
    const pause = isOver ? refundCheck : Math.min(slowest, 700 * 2 ** looks)
    await wait(pause, signal)
  }
}
