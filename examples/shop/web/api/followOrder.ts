import { ProblemError } from 'countersign/client'
import { pause } from './keepTrying.js'
import { type BuyerOrder, type OrderAccess, openBuyer } from './openBuyer.js'

export type OrderNews = {
  type: string
  /** Unix milliseconds. */
  at: number
  order: BuyerOrder
}

export type FollowOrderParameters = {
  onNews: (news: OrderNews) => void
  onReachable: (isReachable: boolean) => void
  signal: AbortSignal
}

/** Milliseconds at most until an order that is almost final is read again. */
const slowest = 5_000

/**
 * Tells everything that happened to an order and happens, from its beginning,
 * through lost connections, until nothing more can happen.
 *
 * @throws {@link ProblemError} when there is no such order for this buyer.
 */
export async function followOrder(
  access: OrderAccess,
  { onNews, onReachable, signal }: FollowOrderParameters,
): Promise<void> {
  const buyer = openBuyer(access, () => onReachable(false))
  const onOpen = () => onReachable(true)
  let after = '0'
  for (let looks = 0; !signal.aborted; looks++) {
    try {
      let isOver = false
      for await (const news of buyer.follow({ after, onOpen, signal })) {
        const { id, type, at, order } = news
        after = id
        if (type !== 'status') looks = 0
        onNews({ type, at: Number(at), order })
        isOver = isSettled(order)
        if (isOver) return
      }
    } catch (error) {
      if (signal.aborted) return
      // Anything else may pass; an order that is not there stays so.
      if (error instanceof ProblemError && error.status === 404) throw error
      onReachable(false)
    }
    // The stream ends at the finality the shop fulfils at; the last comes later.
    await pause(Math.min(slowest, 700 * 2 ** looks), signal)
  }
}

/** True when all that the chain shows of the order is final. */
function isSettled({ state, transaction, refunds }: BuyerOrder): boolean {
  return (
    (state === 'captured' || state === 'canceled') &&
    transaction?.finality === 'finalized' &&
    refunds.every(
      (refund) =>
        refund.state === 'failed' ||
        refund.state === 'canceled' ||
        refund.transaction?.finality === 'finalized',
    )
  )
}
