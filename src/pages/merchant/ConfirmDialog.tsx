import { type ReactNode, useRef } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { Button } from '../ui/Button.js'
import { Countdown } from '../ui/Countdown.js'
import { Dialog } from '../ui/Dialog.js'
import { Facts } from '../ui/Facts.js'
import { shortHex } from '../ui/format.js'
import type { BookOrder } from './applyEvent.js'
import type { OrderAction } from './OrderActions.js'
import { OrderAmount } from './OrderAmount.js'
import { orderTitle } from './shop.js'

/** Actions that need only a confirmation. */
export type ConfirmedAction = Exclude<OrderAction, 'refund'>

type Asked = { action: ConfirmedAction; order: BookOrder }

/** Describes an action and asks the merchant to confirm it. */
export function ConfirmDialog({
  asked,
  onConfirm,
  onClose,
}: {
  asked: Asked | undefined
  onConfirm: (action: ConfirmedAction, order: BookOrder) => void
  onClose: () => void
}): ReactNode {
  // Keeps showing the question while the dialog closes.
  const last = useRef(asked)
  if (asked) last.current = asked
  const shown = asked ?? last.current
  if (!shown) return null
  const { action, order } = shown
  const isUnsigned = action === 'void' && order.state === 'drafted'
  const words = isUnsigned ? voidUnsigned : questions[action]
  return (
    <Dialog
      open={asked !== undefined}
      title={words.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.no}</Button>
          <Button
            variant={action === 'void' ? 'danger' : 'primary'}
            onClick={() => onConfirm(action, order)}
          >
            {words.yes}
          </Button>
        </>
      }
    >
      <p>{words.text}</p>
      <OrderFacts order={order} />
    </Dialog>
  )
}

/** Shows the order that an action is about. */
export function OrderFacts({ order }: { order: BookOrder }): ReactNode {
  const { id, payer, validBefore } = order
  return (
    <Facts
      items={[
        ['What', orderTitle(order)],
        [
          'Order',
          <span key="o" title={id}>
            {shortHex(id)}
          </span>,
        ],
        ['Amount', <OrderAmount key="a" order={order} />],
        ['From', payer && <AddressText key="p" address={payer} />],
        ['Window', <Countdown key="w" until={validBefore} over="closed" />],
      ]}
    />
  )
}

type Question = { title: string; text: string; yes: string; no: string }

const questions: Record<ConfirmedAction, Question> = {
  capture: {
    title: 'Capture this payment?',
    text: 'The money moves to your account. You can refund it later.',
    yes: 'Capture now',
    no: 'Not yet',
  },
  void: {
    title: 'Void this order?',
    text: 'You will not capture this payment. The buyer’s signature stays valid until the window closes: keep the goods until then.',
    yes: 'Void the order',
    no: 'Keep it',
  },
  reauthorize: {
    title: 'Ask the buyer again?',
    text: 'The order gets a new window and the buyer can sign again. Only one of the two signatures can ever be captured.',
    yes: 'Ask again',
    no: 'Leave it',
  },
  cancel: {
    title: 'Send the buyer’s cancellation?',
    text: 'The cancellation makes this payment unusable for good. You pay the gas.',
    yes: 'Send it',
    no: 'Not now',
  },
}

/** The shop has no signature, so nothing of this order can be captured. */
const voidUnsigned: Question = {
  title: 'Void this order?',
  text: 'The buyer has not paid, and the shop holds no signature. It will take no payment for this order.',
  yes: 'Void the order',
  no: 'Keep it',
}
