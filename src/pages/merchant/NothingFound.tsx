import type { ReactNode } from 'react'
import { Button } from '../ui/Button.js'
import { EmptyState } from '../ui/EmptyState.js'
import type { OrderFilter } from './merchantApi.js'
import { isNarrowed, notFoundWords } from './readSearch.js'

/** Says why the table has no orders, and what helps. */
export function NothingFound({
  filter,
  children,
  onFilter,
}: {
  filter: OrderFilter
  /** The words for a list without orders. */
  children: string
  onFilter: (filter: OrderFilter) => void
}): ReactNode {
  const { search } = filter
  const isNarrow = isNarrowed(filter)
  return (
    <EmptyState
      level={3}
      title={search || isNarrow ? 'Nothing found' : 'No orders here'}
      action={
        search && isNarrow ? (
          <Button size="small" onClick={() => onFilter({ search })}>
            Search all orders
          </Button>
        ) : undefined
      }
    >
      {search
        ? `${notFoundWords(search)}${isNarrow ? ' Only orders that match your other filters were searched.' : ''}`
        : isNarrow
          ? 'No order matches these filters.'
          : children}
    </EmptyState>
  )
}
