import type { ReactNode } from 'react'
import { Button, ButtonLink } from '../ui/Button.js'
import { useNow } from '../ui/clock.js'
import { shortHex } from '../ui/format.js'
import type { BookOrder } from './applyEvent.js'
import { canCapture, canVoid } from './bulk.js'
import type { SecondPayment } from './secondPayments.js'
import { orderPath, useShop } from './shop.js'
import { useKeptFocus } from './useKeptFocus.js'

export type OrderAction =
  | 'capture'
  | 'void'
  | 'reauthorize'
  | 'cancel'
  | 'refund'

export type Ask = (
  action: OrderAction,
  order: BookOrder,
  /** The payment to refund, if it is not the one that settled the order. */
  second?: SecondPayment | undefined,
) => void

/** Shows the actions that the current state of an order allows. */
export function OrderActions({
  order,
  onAsk,
  withProof = true,
}: {
  order: BookOrder
  onAsk: Ask
  withProof?: boolean
}): ReactNode {
  const row = useKeptFocus(order.state)
  const { state, pending, requested } = order
  const now = useNow()
  const shop = useShop()
  const isSpendable = Number(order.spendableUntil ?? 0) > now
  const { canWrite } = shop
  const canRenew = canWrite && (state === 'expired' || state === 'canceled')
  const canCancel =
    canWrite && order.isCancelKept === true && isSpendable && !requested
  const canRefund = canWrite && state === 'captured' && order.refundable !== '0'

  // Without this, the buttons of all rows would have the same names.
  const which = (
    <span className="visually-hidden"> order {shortHex(order.id)}</span>
  )
  return (
    <div ref={row} className="row row-actions">
      {canWrite && canCapture(order) && (
        <Button
          size="small"
          variant="primary"
          busy={pending === 'capture'}
          onClick={() => onAsk('capture', order)}
        >
          {pending === 'capture' ? 'Capturing' : 'Capture'}
          {which}
        </Button>
      )}
      {canCancel && (
        <Button size="small" onClick={() => onAsk('cancel', order)}>
          Approve cancellation
          {which}
        </Button>
      )}
      {canWrite && canVoid(order) && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onAsk('void', order)}
        >
          Void
          {which}
        </Button>
      )}
      {canRenew && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onAsk('reauthorize', order)}
        >
          Ask again
          {which}
        </Button>
      )}
      {canRefund && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onAsk('refund', order)}
        >
          Refund
          {which}
        </Button>
      )}
      {withProof && (
        <ButtonLink
          size="small"
          variant="quiet"
          href={orderPath(shop, order.id)}
        >
          {order.capture || order.cancellation ? 'Proof' : 'Details'}
          {which}
        </ButtonLink>
      )}
    </div>
  )
}
