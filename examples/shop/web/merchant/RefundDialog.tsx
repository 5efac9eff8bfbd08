import { formatAmount, parseAmount } from 'countersign'
import type { RefundReason } from 'countersign/orders'
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react'
import { AddressText } from '../ui/AddressText.js'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { Facts } from '../ui/Facts.js'
import { Field, Select } from '../ui/Field.js'
import { shortHex } from '../ui/format.js'
import { Money } from '../ui/Money.js'
import type { BookOrder } from './applyEvent.js'
import { refundReasonWords } from './refundWords.js'
import { productName, useShop } from './shopConfig.js'

export type RefundChoice = {
  amount: string
  reason: RefundReason
}

type RefundDialogProps = {
  order: BookOrder | undefined
  onConfirm: (order: BookOrder, choice: RefundChoice) => void
  onClose: () => void
}

/** Asks how much to refund, and says to whom. */
export function RefundDialog({
  order,
  onConfirm,
  onClose,
}: RefundDialogProps): ReactNode {
  const form = useId()
  // Kept while the dialog closes.
  const last = useRef(order)
  if (order) last.current = order
  const shown = order ?? last.current
  if (!shown) return null
  return (
    <Dialog
      open={order !== undefined}
      title="Refund this order?"
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

/** Begins with all that is left; mounted again each time the dialog opens. */
function RefundForm({
  id,
  order,
  onConfirm,
}: {
  id: string
  order: BookOrder
  onConfirm: (choice: RefundChoice) => void
}): ReactNode {
  const { symbol, decimals } = useShop()
  const left = formatAmount(BigInt(order.refundable), decimals)
  const [amount, setAmount] = useState(left)
  const [reason, setReason] = useState<RefundReason>('requestedByCustomer')
  const [error, setError] = useState<string>()
  function submit(event: FormEvent): void {
    event.preventDefault()
    const value = readAmount(amount.trim(), decimals)
    if (value === undefined)
      setError(`Enter an amount such as ${left}, with a point.`)
    else if (value > BigInt(order.refundable))
      setError(`Only ${left} ${symbol} is left to refund.`)
    else onConfirm({ amount: amount.trim(), reason })
  }
  return (
    <form id={id} className="stack" noValidate onSubmit={submit}>
      <RefundFacts order={order} left={left} />
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
  order: { id, amount, payer, metadata },
  left,
}: {
  order: BookOrder
  left: string
}): ReactNode {
  const shop = useShop()
  return (
    <Facts
      items={[
        ['Product', productName(shop, metadata)],
        [
          'Order',
          <span key="o" title={id}>
            {shortHex(id)}
          </span>,
        ],
        ['Paid', <Money key="a" amount={amount} symbol={shop.symbol} />],
        [
          'Left to refund',
          <Money key="l" amount={left} symbol={shop.symbol} />,
        ],
        ['To', payer && <AddressText key="p" address={payer} />],
      ]}
    />
  )
}

function readAmount(text: string, decimals: number): bigint | undefined {
  try {
    return parseAmount(text, decimals)
  } catch {
    return undefined
  }
}
