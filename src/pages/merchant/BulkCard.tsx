import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import type { BookOrder } from './applyEvent.js'
import { countOf } from './BulkDialog.js'
import type { Bulk } from './bulk.js'
import { StatesTable } from './StatesTable.js'

/** Shows live what became of each order of an action for several orders. */
export function BulkCard({
  bulk: { action, orderIds, unanswered },
  orders,
  onDismiss,
}: {
  bulk: Bulk
  orders: ReadonlyMap<string, BookOrder>
  onDismiss: () => void
}): ReactNode {
  const card = useRef<HTMLDivElement>(null)
  // The buttons that had the focus are gone with the selection.
  useEffect(() => card.current?.focus(), [orderIds])
  const isBusy = unanswered > 0
  useEffect(() => {
    if (!isBusy) return undefined
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isBusy])
  const rows = orderIds.flatMap((id) => orders.get(id) ?? [])
  const failed = rows.filter(
    ({ failure, reason, state }) =>
      failure !== undefined || (reason !== undefined && state === 'stored'),
  ).length
  const verb = action === 'capture' ? 'Capture' : 'Void'
  return (
    <div ref={card} tabIndex={-1} className="bulk">
      <Card
        flush
        title={`${verb}: what became of ${countOf(orderIds.length)}`}
        actions={
          <Button
            size="small"
            variant="quiet"
            busy={isBusy}
            onClick={onDismiss}
          >
            Dismiss
          </Button>
        }
      >
        <p className="inset muted small" role="status">
          {isBusy
            ? `Sending: ${orderIds.length - unanswered} of ${orderIds.length} answered. Keep this page open.`
            : `All ${orderIds.length} answered.`}
          {failed > 0 && ` ${countOf(failed)} not done: see why below.`}
        </p>
        <StatesTable
          caption={`What became of each order, ${verb}`}
          title="Order"
          orders={rows}
        />
      </Card>
    </div>
  )
}
