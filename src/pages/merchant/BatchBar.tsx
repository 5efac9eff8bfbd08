import type { ReactNode } from 'react'
import { Button } from '../ui/Button.js'
import type { BookOrder } from './applyEvent.js'
import { type BatchAction, isInBatch } from './batch.js'
import { Sums } from './Sums.js'

export type Selection = {
  has: (orderId: string) => boolean
  set: (orderIds: readonly string[], isSelected: boolean) => void
}

/** True if an order can be selected for an action with others. */
export function isSelectable(order: BookOrder): boolean {
  return isInBatch('capture', order) || isInBatch('void', order)
}

/** Selects all orders of the table, and acts on those that are selected. */
export function BatchBar({
  orders,
  selection,
  onAct,
}: {
  orders: readonly BookOrder[]
  selection: Selection
  onAct: (action: BatchAction) => void
}): ReactNode {
  const selectable = orders.filter(isSelectable)
  const chosen = selectable.filter(({ id }) => selection.has(id))
  if (selectable.length === 0) return null
  const isAll = chosen.length === selectable.length
  const act = (action: BatchAction, label: string) => {
    const { length } = chosen.filter((order) => isInBatch(action, order))
    return (
      length > 0 && (
        <Button
          size="small"
          variant={action === 'capture' ? 'primary' : 'secondary'}
          onClick={() => onAct(action)}
        >
          {label} {length} selected
        </Button>
      )
    )
  }
  return (
    <div className="inset row batch-bar">
      <label className="pick">
        <input
          type="checkbox"
          checked={isAll}
          ref={(input) => {
            if (input) input.indeterminate = chosen.length > 0 && !isAll
          }}
          onChange={() =>
            selection.set(
              selectable.map(({ id }) => id),
              !isAll,
            )
          }
        />
        Select all
      </label>
      <span role="status" className="muted small">
        {chosen.length > 0 && (
          <>
            {chosen.length} of {selectable.length} selected,{' '}
            <Sums orders={chosen} />
          </>
        )}
      </span>
      {chosen.length > 0 && (
        <>
          {act('capture', 'Capture')}
          {act('void', 'Void')}
        </>
      )}
    </div>
  )
}
