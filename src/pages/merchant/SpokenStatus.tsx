import type { ReactNode } from 'react'
import { describeOrder } from '../../client/describeOrder.js'
import type { BookOrder } from './applyEvent.js'
import { reasonWords } from './reasonWords.js'
import { orderTitle } from './shop.js'

/** Reads out the state of the order that the merchant acted on last. */
export function SpokenStatus({
  order,
}: {
  order: BookOrder | undefined
}): ReactNode {
  return (
    <p className="visually-hidden" role="status">
      {order && `${orderTitle(order)}: ${labelOf(order)}`}
    </p>
  )
}

function labelOf({ state, pending, preconfirmed, reason }: BookOrder): string {
  if (state === 'stored' && reason && !pending)
    return `Not captured, ${reasonWords(reason)}`
  const shown = { state: pending ? 'capturing' : state, preconfirmed }
  return describeOrder(shown, { for: 'merchant' }).state
}
