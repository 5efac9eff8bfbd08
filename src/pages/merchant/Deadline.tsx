import type { ReactNode } from 'react'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'

/** Counts down to the end of the window, or of a voided order's signature. */
export function Deadline({ order }: { order: BookOrder }): ReactNode {
  const { state, validBefore, spendableUntil } = order
  const now = useNow()
  if (['drafted', 'stored', 'capturing', 'canceling'].includes(state))
    return <Countdown until={validBefore} near={300} />
  const isSpendable = Number(spendableUntil ?? 0) > now
  if (state === 'voided' && spendableUntil && isSpendable)
    return (
      <span>
        <Countdown until={spendableUntil} near={0} />
        <p className="muted cell-note">signature still valid</p>
      </span>
    )
  return <span className="muted">–</span>
}
