import type { ReactNode } from 'react'
import { Button } from '../ui/Button.js'
import type { BookOrder } from './applyEvent.js'
import { type BulkAction, isInBulk } from './bulk.js'
import { Sums } from './Sums.js'

export type Selection = {
  has: (orderId: string) => boolean
  set: (orderIds: readonly string[], isSelected: boolean) => void
}

/** True if an order can be selected for an action with others. */
export function isSelectable(order: BookOrder): boolean {
  return isInBulk('capture', order) || isInBulk('void', order)
}

/** Selects all orders of the table, and acts on those that are selected. */
export function BulkBar({
  orders,
  selection,
  onAct,
}: {
  orders: readonly BookOrder[]
  selection: Selection
  onAct: (action: BulkAction) => void
}): ReactNode {
  const selectable = orders.filter(isSelectable)
  const chosen = selectable.filter(({ id }) => selection.has(id))
  if (selectable.length === 0) return null
  const isAll = chosen.length === selectable.length
  const act = (action: BulkAction, label: string) => {
    const { length } = chosen.filter((order) => isInBulk(action, order))
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
    <div className="inset row bulk-bar">
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
