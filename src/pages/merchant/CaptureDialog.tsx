import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react'
import { parseAmount } from '../../core/amount.js'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { Field } from '../ui/Field.js'
import { groupAmount } from '../ui/format.js'
import type { BookOrder } from './applyEvent.js'
import { OrderFacts } from './ConfirmDialog.js'
import { readAmount } from './readAmount.js'
import { useToken } from './shop.js'

/** Asks the merchant how much of a ceiling to capture. */
export function CaptureDialog({
  order,
  onConfirm,
  onClose,
}: {
  order: BookOrder | undefined
  onConfirm: (order: BookOrder, amount: string) => void
  onClose: () => void
}): ReactNode {
  const form = useId()
  // Keeps showing the order while the dialog closes.
  const last = useRef(order)
  if (order) last.current = order
  const shown = order ?? last.current
  if (!shown) return null
  return (
    <Dialog
      open={order !== undefined}
      title="Capture this payment?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not yet</Button>
          <Button variant="primary" type="submit" form={form}>
            Capture now
          </Button>
        </>
      }
    >
      <p>
        The amount moves to your account, once. The rest stays with the buyer,
        and you cannot capture it later.
      </p>
      <CaptureForm
        id={form}
        order={shown}
        onConfirm={(amount) => onConfirm(shown, amount)}
      />
    </Dialog>
  )
}

/** Mounted again each time the dialog opens, so that it keeps no old input. */
function CaptureForm({
  id,
  order,
  onConfirm,
}: {
  id: string
  order: BookOrder
  onConfirm: (amount: string) => void
}): ReactNode {
  const { symbol, decimals } = useToken(order)
  const { atMost = order.amount } = order
  const [amount, setAmount] = useState(() =>
    // An earlier capture named an amount below the ceiling: suggest it again.
    order.amount === atMost ? '' : order.amount,
  )
  const [error, setError] = useState<string>()
  function submit(event: FormEvent): void {
    event.preventDefault()
    const value = readAmount(amount.trim(), decimals)
    if (value === undefined)
      setError(`Enter an amount such as ${atMost}, with a point.`)
    else if (value > parseAmount(atMost, decimals))
      setError(`The buyer signed at most ${groupAmount(atMost)} ${symbol}.`)
    else onConfirm(amount.trim())
  }
  return (
    <form id={id} className="stack" noValidate onSubmit={submit}>
      <OrderFacts order={order} />
      <Field
        label={`Amount in ${symbol}`}
        hint={`At most ${groupAmount(atMost)} ${symbol}.`}
        inputMode="decimal"
        autoComplete="off"
        value={amount}
        error={error}
        onChange={({ target }) => setAmount(target.value)}
      />
    </form>
  )
}
