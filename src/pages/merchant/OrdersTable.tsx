import type { ReactNode } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { shortHex } from '../ui/format.js'
import { Link } from '../ui/Link.js'
import { RelativeTime } from '../ui/RelativeTime.js'
import { type Column, Table } from '../ui/Table.js'
import type { BookOrder } from './applyEvent.js'
import { isSelectable, type Selection } from './BulkBar.js'
import { Deadline } from './Deadline.js'
import { type Ask, OrderActions } from './OrderActions.js'
import { OrderAmount } from './OrderAmount.js'
import { OrderStatus } from './OrderStatus.js'
import { orderPath, orderTitle, useShop } from './shop.js'

/** One row per order, with a link to its proof. */
export function OrdersTable({
  orders,
  onAsk,
  selection,
}: {
  orders: readonly BookOrder[]
  onAsk: Ask
  /** Absent if the pages only read. */
  selection: Selection | undefined
}): ReactNode {
  const shop = useShop()
  const columns: readonly Column<BookOrder>[] = [
    {
      key: 'order',
      title: 'Order',
      cell: (order) => (
        <div className="pick">
          {selection && isSelectable(order) && (
            <input
              type="checkbox"
              aria-label={`Select order ${shortHex(order.id)}`}
              checked={selection.has(order.id)}
              onChange={({ target }) =>
                selection.set([order.id], target.checked)
              }
            />
          )}
          <div>
            <Link className="order-link" href={orderPath(shop, order.id)}>
              {orderTitle(order)}
              <span className="visually-hidden">, order {order.id}</span>
            </Link>
            <p className="muted cell-note">
              <span aria-hidden="true" title={order.id}>
                {shortHex(order.id)} ·{' '}
              </span>
              <RelativeTime at={order.createdAt} />
            </p>
          </div>
        </div>
      ),
    },
    {
      key: 'amount',
      title: 'Amount',
      isNumber: true,
      cell: (order) => <OrderAmount order={order} />,
    },
    {
      key: 'payer',
      title: 'Payer',
      cell: ({ payer }) =>
        payer ? (
          <AddressText address={payer} label="payer’s address" />
        ) : (
          <span className="muted">not signed yet</span>
        ),
    },
    {
      key: 'state',
      title: 'State',
      cell: (order) => <OrderStatus order={order} />,
    },
    {
      key: 'deadline',
      title: 'Deadline',
      cell: (order) => <Deadline order={order} />,
    },
    {
      key: 'actions',
      title: 'Actions',
      cell: (order) => <OrderActions order={order} onAsk={onAsk} />,
    },
  ]
  return (
    <div className="orders-table">
      <Table
        caption="Orders, the newest first"
        columns={columns}
        rows={orders}
        rowKey={({ id }) => id}
      />
    </div>
  )
}
