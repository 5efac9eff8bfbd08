import type { ReactNode } from 'react'
import { formatClock } from '../api/formatClock.js'
import type { BuyerOrder } from '../api/payments.js'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import type { OrderPoint } from './pointOf.js'

const words: Partial<Record<OrderPoint, string>> = {
  drafted: 'Time left to sign',
  stored: 'The shop can collect it for another',
  capturing: 'The shop can collect it for another',
  voided: 'The signature ends in',
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
      {now < until ? `${label} ` : 'Its time is over since '}
      <strong>
        {now < until ? <Countdown until={until} /> : formatClock(until)}
      </strong>
    </p>
  )
}
