import {
  type BuyerState,
  createBuyerClient,
  describeOrder,
} from 'countersign/client'
import { type ReactNode, useEffect, useState } from 'react'
import { Badge } from '../../../src/pages/ui/Badge.js'
import { ButtonLink } from '../../../src/pages/ui/Button.js'
import { Card } from '../../../src/pages/ui/Card.js'
import { EmptyState } from '../../../src/pages/ui/EmptyState.js'
import { Link } from '../../../src/pages/ui/Link.js'
import { Money } from '../../../src/pages/ui/Money.js'
import { describeLines, linesOf, totalOf } from '../basket.js'
import { token } from '../token.js'
import { type KeptOrder, readOrders } from './keptOrders.js'
import { ShopShell } from './ShopShell.js'

/** The orders that this browser placed. */
export function OrdersPage(): ReactNode {
  const [orders] = useState(readOrders)
  return (
    <ShopShell title="Your orders">
      <div className="stack stack-wide">
        <h1>Your orders</h1>
        {orders.length === 0 ? (
          <EmptyState
            title="No orders yet"
            action={<ButtonLink href="/">See all products</ButtonLink>}
          >
            You see here what you order in this browser.
          </EmptyState>
        ) : (
          <Card>
            <ul className="lines" aria-label="Your orders">
              {orders.map((order) => (
                <OrderRow key={order.orderId} order={order} />
              ))}
            </ul>
          </Card>
        )}
      </div>
    </ShopShell>
  )
}

function OrderRow({ order }: { order: KeptOrder }): ReactNode {
  const { orderId, basket, placedAt } = order
  const lines = linesOf(basket)
  const placed = new Date(placedAt)
  return (
    <li className="order-row">
      <div>
        <Link href={`/orders/${orderId}`}>{describeLines(lines)}</Link>
        <p className="small muted">
          <time dateTime={placed.toISOString()}>
            {placed.toLocaleString('en')}
          </time>
        </p>
      </div>
      <Badge>{useStateWords(order)}</Badge>
      <Money amount={totalOf(lines)} symbol={token.symbol} />
    </li>
  )
}

/** How an order stands, in the words of the product. */
function useStateWords({ orderId, buyerToken }: KeptOrder): string {
  const [words, setWords] = useState('…')
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    const url = `${location.origin}/payments`
    createBuyerClient({ url, orderId, buyerToken })
      .get({ signal })
      .then(stateWords, () => 'Not found')
      .then((read) => {
        if (!signal.aborted) setWords(read)
      })
    return () => ending.abort()
  }, [orderId, buyerToken])
  return words
}

function stateWords(order: BuyerState): string {
  return describeOrder(order, { for: 'buyer', symbol: token.symbol }).state
}
