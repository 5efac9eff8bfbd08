import type { ReactNode } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'
import { findNeeds } from './needsPerson.js'
import { OrderLink } from './OrderLink.js'

const shownNeeds = 6

/** Lists the orders that need a person. Shows nothing if there are none. */
export function NeedsCard({
  orders,
}: {
  orders: ReadonlyMap<string, BookOrder>
}): ReactNode {
  const needs = findNeeds(orders.values(), useNow())
  if (needs.length === 0) return null
  const rest = needs.length - shownNeeds
  return (
    <Card title="Needs you">
      <ul className="stack stack-tight">
        {needs.slice(0, shownNeeds).map(({ order, why }) => (
          <li key={order.id}>
            <OrderLink order={order} />
            <p className="cell-note">{why}</p>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="muted small">and {rest} more</p>}
    </Card>
  )
}
