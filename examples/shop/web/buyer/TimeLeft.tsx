import type { OrderDescription } from 'countersign/client'
import type { ReactNode } from 'react'
import { Countdown } from '../../../../src/pages/ui/Countdown.js'

type TimeLeftProps = NonNullable<OrderDescription['deadline']>

/** How long the payment can still be signed or collected. */
export function TimeLeft({
  label,
  text,
  at,
  isOver,
}: TimeLeftProps): ReactNode {
  return (
    <p className="time-left small">
      {label} <strong>{isOver ? text : <Countdown until={at} />}</strong>
    </p>
  )
}
