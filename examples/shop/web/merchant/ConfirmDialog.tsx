import { type ReactNode, useRef } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { Button } from '../ui/Button.js'
import { Countdown } from '../ui/Countdown.js'
import { Dialog } from '../ui/Dialog.js'
import { Facts } from '../ui/Facts.js'
import { Money } from '../ui/Money.js'
import type { BookOrder } from './applyEvent.js'
import type { OrderAction } from './OrderActions.js'
import { productName, useShop } from './shopConfig.js'

type Asked = { action: OrderAction; order: BookOrder }

/** Says in words what is about to happen. */
export function ConfirmDialog({
  asked,
  onConfirm,
  onClose,
}: {
  asked: Asked | undefined
  onConfirm: (action: OrderAction, order: BookOrder) => void
  onClose: () => void
}): ReactNode {
  // Kept while the dialog closes.
  const last = useRef(asked)
  if (asked) last.current = asked
  const shown = asked ?? last.current
  if (!shown) return null
  const { action, order } = shown
  const words = questions[action]
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

function OrderFacts({ order }: { order: BookOrder }): ReactNode {
  const shop = useShop()
  const { amount, payer, metadata, validBefore } = order
  return (
    <Facts
      items={[
        ['Order', productName(shop, metadata)],
        ['Amount', <Money key="a" amount={amount} symbol={shop.symbol} />],
        ['From', payer && <AddressText key="p" address={payer} />],
        ['Window', <Countdown key="w" until={validBefore} over="closed" />],
      ]}
    />
  )
}

const questions: Record<
  OrderAction,
  { title: string; text: string; yes: string; no: string }
> = {
  capture: {
    title: 'Capture this payment?',
    text: 'The money moves to your account. To give it back later takes a transfer of your own.',
    yes: 'Capture now',
    no: 'Not yet',
  },
  void: {
    title: 'Give up on this order?',
    text: 'You will not capture it any more. What the buyer signed stays valid until its window closes; keep the goods until then.',
    yes: 'Void the order',
    no: 'Keep it',
  },
  reauthorize: {
    title: 'Ask the buyer again?',
    text: 'The order opens with a new window, and the buyer can sign once more. At most one signature can ever be paid.',
    yes: 'Ask again',
    no: 'Leave it',
  },
  cancel: {
    title: 'Send the buyer’s cancellation?',
    text: 'The chain then makes this payment unusable for good. You pay the gas.',
    yes: 'Send it',
    no: 'Not now',
  },
}
