import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react'
import type { Address } from 'viem'
import { formatAmount } from '../../core/amount.js'
import type { RefundReason } from '../../orders/index.js'
import { AddressText } from '../ui/AddressText.js'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { Facts } from '../ui/Facts.js'
import { Field, Select } from '../ui/Field.js'
import { shortHex } from '../ui/format.js'
import { Money } from '../ui/Money.js'
import type { BookOrder } from './applyEvent.js'
import { readAmount } from './readAmount.js'
import { refundReasonWords } from './refundWords.js'
import type { SecondPayment } from './secondPayments.js'
import { orderTitle, useToken } from './shop.js'

export type RefundChoice = {
  amount: string
  reason: RefundReason
  /** The payment to refund, if it is not the one that settled the order. */
  second?: SecondPayment | undefined
}

type RefundDialogProps = {
  order: BookOrder | undefined
  second: SecondPayment | undefined
  onConfirm: (order: BookOrder, choice: RefundChoice) => void
  onClose: () => void
}

/** Asks how much to refund, and shows which account gets it. */
export function RefundDialog({
  order,
  second,
  onConfirm,
  onClose,
}: RefundDialogProps): ReactNode {
  const form = useId()
  // Keeps showing the order while the dialog closes.
  const last = useRef({ order, second })
  if (order) last.current = { order, second }
  const { order: shown, second: shownSecond } = last.current
  if (!shown) return null
  return (
    <Dialog
      open={order !== undefined}
      title={shownSecond ? 'Refund the second payment?' : 'Refund this order?'}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button variant="danger" type="submit" form={form}>
            Refund
          </Button>
        </>
      }
    >
      <p>
        The money goes back to the account that paid, once the capture is final.
        Your account pays the gas.
      </p>
      <RefundForm
        id={form}
        order={shown}
        second={shownSecond}
        onConfirm={(choice) => onConfirm(shown, choice)}
      />
    </Dialog>
  )
}

const reasons: readonly RefundReason[] = [
  'requestedByCustomer',
  'duplicate',
  'fraudulent',
]

/**
 * Starts with the full amount that is left. Mounted again each time the dialog
 * opens.
 */
function RefundForm({
  id,
  order,
  second,
  onConfirm,
}: {
  id: string
  order: BookOrder
  second: SecondPayment | undefined
  onConfirm: (choice: RefundChoice) => void
}): ReactNode {
  const { symbol, decimals } = useToken(order)
  const most = second?.left ?? BigInt(order.refundable)
  const left = formatAmount(most, decimals)
  const [amount, setAmount] = useState(left)
  const [reason, setReason] = useState<RefundReason>(
    second ? 'duplicate' : 'requestedByCustomer',
  )
  const [error, setError] = useState<string>()
  function submit(event: FormEvent): void {
    event.preventDefault()
    const value = readAmount(amount.trim(), decimals)
    if (value === undefined)
      setError(`Enter an amount such as ${left}, with a point.`)
    else if (value > most) setError(`Only ${left} ${symbol} is left to refund.`)
    else onConfirm({ amount: amount.trim(), reason, second })
  }
  return (
    <form id={id} className="stack" noValidate onSubmit={submit}>
      <RefundFacts order={order} left={left} to={second?.to ?? order.payer} />
      <Field
        label={`Amount in ${symbol}`}
        inputMode="decimal"
        autoComplete="off"
        value={amount}
        error={error}
        onChange={({ target }) => setAmount(target.value)}
      />
      <Select
        label="Reason"
        options={reasons.map((value) => ({
          value,
          label: refundReasonWords[value],
        }))}
        value={reason}
        onChange={({ target }) =>
          setReason(
            reasons.find((one) => one === target.value) ??
              'requestedByCustomer',
          )
        }
      />
    </form>
  )
}

function RefundFacts({
  order,
  left,
  to,
}: {
  order: BookOrder
  left: string
  to: Address | undefined
}): ReactNode {
  const { id, amount } = order
  const { symbol } = useToken(order)
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
        ['Paid', <Money key="a" amount={amount} symbol={symbol} />],
        ['Left to refund', <Money key="l" amount={left} symbol={symbol} />],
        ['To', to && <AddressText key="p" address={to} />],
      ]}
    />
  )
}
