import { type ReactNode, useRef } from 'react'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { Facts } from '../ui/Facts.js'
import type { BookOrder } from './applyEvent.js'
import { type BulkAction, isInBulk } from './bulk.js'
import { Sums } from './Sums.js'

export type AskedBulk = { action: BulkAction; orders: readonly BookOrder[] }

/** Says how many orders an action is about, and asks for one confirmation. */
export function BulkDialog({
  asked,
  onConfirm,
  onClose,
}: {
  asked: AskedBulk | undefined
  onConfirm: (action: BulkAction, orderIds: readonly string[]) => void
  onClose: () => void
}): ReactNode {
  // Keeps showing the question while the dialog closes.
  const last = useRef(asked)
  if (asked) last.current = asked
  const shown = asked ?? last.current
  if (!shown) return null
  const { action, orders } = shown
  const isCapture = action === 'capture'
  const verb = isCapture ? 'Capture' : 'Void'
  const taken = orders.filter((order) => isInBulk(action, order))
  const left = orders.length - taken.length
  return (
    <Dialog
      open={asked !== undefined}
      title={`${verb} ${countOf(taken.length)}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not yet</Button>
          <Button
            variant={isCapture ? 'primary' : 'danger'}
            onClick={() =>
              onConfirm(
                action,
                taken.map(({ id }) => id),
              )
            }
          >
            {verb} {countOf(taken.length)}
          </Button>
        </>
      }
    >
      <p>
        {isCapture
          ? 'The money moves to your account. You can refund it later.'
          : 'You will not capture these payments. The buyers’ signatures stay valid until their windows close: keep the goods until then.'}
      </p>
      <Facts
        items={[
          ['Orders', String(taken.length)],
          ['In sum', <Sums key="s" orders={taken} />],
        ]}
      />
      {left > 0 && (
        <p className="muted small">
          {countOf(left)} of your selection stay as they are
          {isCapture &&
            ': the amount of a ceiling is named for each order by itself, and an unsigned order cannot be captured'}
          .
        </p>
      )}
    </Dialog>
  )
}

/** Says a number of orders. */
export function countOf(count: number): string {
  return `${count} ${count === 1 ? 'order' : 'orders'}`
}
