import type { ReactNode } from 'react'
import { Button } from '../ui/Button.js'
import { EmptyState } from '../ui/EmptyState.js'
import type { OrderFilter } from './merchantApi.js'
import { notFoundWords } from './readSearch.js'

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
  const { search, has: _, ...conditions } = filter
  const { states, from, to, least, most } = conditions
  const isNarrowed = [states, from, to, least, most].some(
    (one) => one !== undefined,
  )
  return (
    <EmptyState
      level={3}
      title={search || isNarrowed ? 'Nothing found' : 'No orders here'}
      action={
        search && isNarrowed ? (
          <Button size="small" onClick={() => onFilter({ search })}>
            Search all orders
          </Button>
        ) : undefined
      }
    >
      {search
        ? `${notFoundWords(search)}${isNarrowed ? ' Only orders that match your other filters were searched.' : ''}`
        : isNarrowed
          ? 'No order matches these filters.'
          : children}
    </EmptyState>
  )
}
