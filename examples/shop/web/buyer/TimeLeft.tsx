import type { ReactNode } from 'react'
import { formatClock } from '../api/formatClock.js'
import type { BuyerOrder } from '../api/openBuyer.js'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import type { OrderPoint } from './pointOf.js'

const words: Partial<Record<OrderPoint, string>> = {
  drafted: 'Time left to sign',
  stored: 'Time left for the shop to charge you',
  capturing: 'Time left for the shop to charge you',
  voided: 'Your signature expires in',
}

/** How long the payment can still be signed or collected. */
export function TimeLeft({
  point,
  window: { validBefore },
}: {
  point: OrderPoint
  window: BuyerOrder['window']
}): ReactNode {
  const now = useNow()
  const label = words[point]
  const until = Number(validBefore)
  if (!label) return null
  return (
    <p className="time-left small">
      {now < until ? `${label} ` : 'Expired at '}
      <strong>
        {now < until ? <Countdown until={until} /> : formatClock(until)}
      </strong>
    </p>
  )
}
