import type { ReactNode } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { Badge } from '../ui/Badge.js'
import { HashLink } from '../ui/HashLink.js'
import { Money } from '../ui/Money.js'
import { finalityWords } from '../ui/states.js'
import { Table } from '../ui/Table.js'
import type { BookOrder } from './applyEvent.js'
import { OrderLink } from './OrderLink.js'
import {
  refundReasonWords,
  refundStateWords,
  refundWords,
} from './refundWords.js'
import { orderToken, transactionUrl, useShop } from './shop.js'

/** One row per refund, the orders of which are the newest first. */
export function RefundsTable({
  orders,
}: {
  orders: readonly BookOrder[]
}): ReactNode {
  const shop = useShop()
  const rows = orders.flatMap((order) =>
    order.refunds
      .map((refund) => ({ order, refund, token: orderToken(shop, order) }))
      .reverse(),
  )
  return (
    <Table
      caption="Refunds, those of the newest orders first"
      rows={rows}
      rowKey={({ order, refund }) => `${order.id} ${refund.refundId}`}
      columns={[
        {
          key: 'order',
          title: 'Order',
          cell: ({ order }) => <OrderLink order={order} />,
        },
        {
          key: 'amount',
          title: 'Refund',
          isNumber: true,
          cell: ({ refund, token }) => (
            <Money amount={refund.amount} symbol={token.symbol} />
          ),
        },
        {
          key: 'state',
          title: 'State',
          cell: ({ refund: { state, failure, reason } }) => {
            const { label, tone, isBusy } = refundStateWords[state]
            return (
              <div>
                <Badge tone={tone} busy={isBusy}>
                  {label}
                </Badge>
                {failure && (
                  <p className="cell-note cell-warn">{refundWords(failure)}</p>
                )}
                {reason && (
                  <p className="muted cell-note">{refundReasonWords[reason]}</p>
                )}
              </div>
            )
          },
        },
        {
          key: 'to',
          title: 'To',
          cell: ({ refund }) => (
            <AddressText address={refund.to} label="refunded address" />
          ),
        },
        {
          key: 'transaction',
          title: 'Transaction',
          cell: ({ refund: { transfer }, token }) =>
            transfer ? (
              <div>
                <HashLink
                  hash={transfer.transactionHash}
                  href={transactionUrl(token, transfer.transactionHash)}
                  label="refund’s transaction hash"
                />
                <p className="muted cell-note">
                  {finalityWords[transfer.finality]}
                </p>
              </div>
            ) : (
              <span className="muted">not sent yet</span>
            ),
        },
      ]}
    />
  )
}
