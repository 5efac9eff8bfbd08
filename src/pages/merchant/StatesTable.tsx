import type { ReactNode } from 'react'
import { Table } from '../ui/Table.js'
import type { BookOrder } from './applyEvent.js'
import { OrderAmount } from './OrderAmount.js'
import { OrderLink } from './OrderLink.js'
import { OrderStatus } from './OrderStatus.js'

/** Lists orders with their amounts and states. */
export function StatesTable({
  caption,
  title,
  orders,
}: {
  caption: string
  /** Title of the first column. */
  title: string
  orders: readonly BookOrder[]
}): ReactNode {
  return (
    <Table
      caption={caption}
      rows={orders}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'order',
          title,
          cell: (order) => <OrderLink order={order} />,
        },
        {
          key: 'amount',
          title: 'Amount',
          isNumber: true,
          cell: (order) => <OrderAmount order={order} />,
        },
        {
          key: 'state',
          title: 'State',
          cell: (order) => <OrderStatus order={order} />,
        },
      ]}
    />
  )
}
