import type { ReactNode } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import { shortHex } from '../ui/format.js'
import { Link } from '../ui/Link.js'
import type { BookOrder } from './applyEvent.js'
import { findNeeds } from './needsPerson.js'
import { orderPath, orderTitle, useShop } from './shop.js'

const shownNeeds = 6

/** Lists the orders that need a person. Shows nothing if there are none. */
export function NeedsCard({
  orders,
}: {
  orders: ReadonlyMap<string, BookOrder>
}): ReactNode {
  const shop = useShop()
  const needs = findNeeds(orders.values(), useNow())
  if (needs.length === 0) return null
  const rest = needs.length - shownNeeds
  return (
    <Card title="Needs you">
      <ul className="stack stack-tight">
        {needs.slice(0, shownNeeds).map(({ order, why }) => (
          <li key={order.id}>
            <Link className="order-link" href={orderPath(shop, order.id)}>
              {orderTitle(order)}, {shortHex(order.id)}
            </Link>
            <p className="cell-note">{why}</p>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="muted small">and {rest} more</p>}
    </Card>
  )
}
