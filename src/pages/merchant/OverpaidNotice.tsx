import type { ReactNode } from 'react'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import { formatAmount } from '../../core/amount.js'
import { Button } from '../ui/Button.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import type { BookOrder } from './applyEvent.js'
import type { Ask } from './OrderActions.js'
import { type SecondPayment, secondPayments } from './secondPayments.js'
import { useShop, useToken } from './shop.js'

/** Lists the extra payments of an overpaid order, each with a refund button. */
export function OverpaidNotice({
  order,
  events,
  onAsk,
}: {
  order: BookOrder
  events: readonly MerchantEvent[]
  onAsk: Ask
}): ReactNode {
  return secondPayments(order, events).map((payment) => (
    <OneNotice
      key={payment.refundId}
      order={order}
      payment={payment}
      onRefund={() => onAsk('refund', order, payment)}
    />
  ))
}

function OneNotice({
  order,
  payment: { left },
  onRefund,
}: {
  order: BookOrder
  payment: SecondPayment
  onRefund: () => void
}): ReactNode {
  const { canWrite } = useShop()
  const { symbol, decimals } = useToken(order)
  if (left <= 0n)
    return (
      <Notice title="This order was paid twice">
        The second payment is refunded.
      </Notice>
    )
  return (
    <Notice
      tone="warn"
      title="This order was paid twice"
      action={
        canWrite && (
          <Button size="small" onClick={onRefund}>
            Refund the second payment
          </Button>
        )
      }
    >
      <Money amount={formatAmount(left, decimals)} symbol={symbol} /> of the
      second payment is left to refund. The refund button of the order pays back
      the first payment.
    </Notice>
  )
}
