import type { ReactNode } from 'react'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import { Link } from '../ui/Link.js'
import { Money } from '../ui/Money.js'
import { Table } from '../ui/Table.js'
import type { BookOrder } from './applyEvent.js'
import { ceilingLeft } from './ceilingLeft.js'
import { OrderLink } from './OrderLink.js'
import { OrderStatus } from './OrderStatus.js'
import { orderPath, orderToken, useShop } from './shop.js'

/**
 * Lists ceilings with the captured amount, the rest, and the time until which
 * it can be captured.
 */
export function CeilingsTable({
  orders,
}: {
  orders: readonly BookOrder[]
}): ReactNode {
  const shop = useShop()
  const now = useNow()
  const none = <span className="muted">–</span>
  const rows = orders.map((order) => ({
    order,
    symbol: orderToken(shop, order).symbol,
    left: ceilingLeft(order, now),
  }))
  return (
    <Table
      caption="Ceilings, the newest first"
      rows={rows}
      rowKey={({ order }) => order.id}
      columns={[
        {
          key: 'order',
          title: 'Order',
          cell: ({ order }) => <OrderLink order={order} />,
        },
        {
          key: 'ceiling',
          title: 'Ceiling',
          isNumber: true,
          cell: ({ order, symbol }) => (
            <Money amount={order.atMost ?? order.amount} symbol={symbol} />
          ),
        },
        {
          key: 'captured',
          title: 'Captured',
          isNumber: true,
          cell: ({ order, symbol }) =>
            order.capture ? (
              <Link href={orderPath(shop, order.id)}>
                <Money amount={order.amount} symbol={symbol} />
              </Link>
            ) : (
              none
            ),
        },
        {
          key: 'left',
          title: 'Left',
          isNumber: true,
          cell: ({ left, symbol }) =>
            left ? <Money amount={left.amount} symbol={symbol} /> : none,
        },
        {
          key: 'until',
          title: 'Until',
          cell: ({ left }) =>
            left ? <Countdown until={left.until} near={300} /> : none,
        },
        {
          key: 'state',
          title: 'State',
          cell: ({ order }) => <OrderStatus order={order} />,
        },
      ]}
    />
  )
}
