import { useEffect, useState } from 'react'
import { setChainTime } from '../../../../src/pages/ui/clock.js'
import { getChainTime } from '../api/chain.js'
import { followOrder, type OrderNews } from '../api/followOrder.js'
import { pause } from '../api/keepTrying.js'
import type { BuyerOrder, OrderAccess } from '../api/openBuyer.js'

export type FollowedOrder = {
  order: BuyerOrder | undefined
  /** When each kind of event happened last, Unix milliseconds. */
  times: Readonly<Record<string, number>>
  /** The kind of the newest event. */
  newest: string | undefined
  link: 'live' | 'lost' | 'notFound'
}

/** Milliseconds between two looks at an order whose payment is final. */
const refundCheck = 30_000

const nothing: FollowedOrder = {
  order: undefined,
  times: {},
  newest: undefined,
  link: 'live',
}

/** An order as it stands and moves, and a way to show an answer at once. */
export function useOrder(access: OrderAccess): FollowedOrder & {
  /** Shows an answer, unless the order has left that state in the meantime. */
  show: (order: BuyerOrder, from: BuyerOrder['state']) => void
} {
  const { orderId, token } = access
  const [followed, setFollowed] = useState(nothing)
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const change = (changes: Partial<FollowedOrder>): void => {
      if (!signal.aborted) setFollowed((now) => ({ ...now, ...changes }))
    }
    const follow = async (): Promise<void> => {
      while (!signal.aborted) {
        await followOrder(
          { orderId, token },
          {
            signal,
            onReachable: (isReachable) =>
              change({ link: isReachable ? 'live' : 'lost' }),
            onNews: (news) => {
              if (!signal.aborted) setFollowed((now) => take(now, news))
            },
          },
        )
        // The shop can refund an order long after its payment is final.
        await pause(refundCheck, signal)
      }
    }
    setFollowed(nothing)
    follow().catch(() => change({ link: 'notFound' }))
    keepTime(signal)
    return () => ending.abort()
  }, [orderId, token])
  return {
    ...followed,
    show: (order, from) =>
      setFollowed((now) =>
        now.order?.state === from ? { ...now, order } : now,
      ),
  }
}

function take(
  now: FollowedOrder,
  { type, at, order }: OrderNews,
): FollowedOrder {
  // How it stands is told again after each lost connection; it is no event.
  return type === 'status'
    ? { ...now, order }
    : { ...now, order, newest: type, times: { ...now.times, [type]: at } }
}

/** Windows close by the chain's clock, so the countdowns follow it. */
function keepTime(signal: AbortSignal): void {
  const read = (): void => {
    getChainTime().then(setChainTime, () => undefined)
  }
  const timer = setInterval(read, 10_000)
  signal.addEventListener('abort', () => clearInterval(timer))
  read()
}
