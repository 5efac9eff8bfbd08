import { describeOrder } from 'countersign/client'
import type { ReactNode } from 'react'
import type { BookOrder } from './applyEvent.js'
import { reasonWords } from './reasonWords.js'
import { productName, useShop } from './shopConfig.js'

/** Tells a screen reader how the order fares that was acted on last. */
export function SpokenStatus({
  order,
}: {
  order: BookOrder | undefined
}): ReactNode {
  const shop = useShop()
  return (
    <p className="visually-hidden" role="status">
      {order && `${productName(shop, order.metadata)}: ${labelOf(order)}`}
    </p>
  )
}

function labelOf({ state, pending, preconfirmed, reason }: BookOrder): string {
  if (state === 'stored' && reason && !pending)
    return `Not captured, ${reasonWords(reason)}`
  const shown = { state: pending ? 'capturing' : state, preconfirmed }
  return describeOrder(shown, { for: 'merchant' }).state
}
