import { type ReactNode, useState } from 'react'
import { Card } from '../ui/Card.js'
import { useNow } from '../ui/clock.js'
import type { BookOrder } from './applyEvent.js'
import { type DeadlineSpan, findDeadlines } from './deadlines.js'
import type { Ask } from './OrderActions.js'
import { OrdersTable } from './OrdersTable.js'
import { useShop } from './shop.js'
import { tokenKey } from './splitByToken.js'
import { TokenMoney } from './TokenMoney.js'

/**
 * Shows how much is signed and not captured, by the end of the windows. Each
 * bar opens the list of its orders. Shows nothing if there are none.
 */
export function DeadlinesCard({
  orders,
  isPartial,
  onAsk,
}: {
  orders: ReadonlyMap<string, BookOrder>
  isPartial: boolean
  onAsk: Ask
}): ReactNode {
  const shop = useShop()
  const spans = findDeadlines(orders.values(), { now: useNow(), shop })
  if (spans.length === 0) return null
  // Amounts of several tokens have no common scale, so bars count orders then.
  const lengths = spans.map(lengthOf(spans))
  return (
    <Card title="Signed and not captured, by deadline">
      <p className="muted small">
        A payment that you do not capture before its window ends, expires
        {isPartial && '. Counts the orders loaded so far'}. Open a bar for its
        orders.
      </p>
      <div className="payers">
        {spans.map((span, at) => (
          <Bar
            key={span.label}
            span={span}
            percent={lengths[at] ?? 0}
            onAsk={onAsk}
          />
        ))}
      </div>
    </Card>
  )
}

function Bar({
  span: { label, orders, sums },
  percent,
  onAsk,
}: {
  span: DeadlineSpan
  percent: number
  onAsk: Ask
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="deadline"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span className="row row-between">
          <span>
            {label}, {orders.length} {orders.length === 1 ? 'order' : 'orders'}
          </span>
          <span className="row">
            {sums.map((amount) => (
              <TokenMoney
                key={tokenKey(amount.token)}
                amount={amount}
                isCeiling={orders.some(({ atMost }) => atMost !== undefined)}
              />
            ))}
          </span>
        </span>
        <span className="payer-bar" aria-hidden="true">
          <span className="payer-fill" style={{ width: `${percent}%` }} />
        </span>
      </summary>
      {isOpen && (
        <OrdersTable orders={orders} onAsk={onAsk} selection={undefined} />
      )}
    </details>
  )
}

function lengthOf(
  spans: readonly DeadlineSpan[],
): (span: DeadlineSpan) => number {
  const tokens = new Set(
    spans.flatMap(({ sums }) => sums.map(({ token }) => tokenKey(token))),
  )
  const sizeOf = ({ orders, sums }: DeadlineSpan) =>
    tokens.size > 1 ? BigInt(orders.length) : (sums[0]?.value ?? 0n)
  const most = spans.map(sizeOf).reduce((a, b) => (a > b ? a : b), 1n)
  return (span) => Number((sizeOf(span) * 100n) / most)
}
