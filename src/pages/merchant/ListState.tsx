import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../ui/Button.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import type { BookOrder } from './applyEvent.js'
import type { BookState } from './bookState.js'
import { isShown } from './isShown.js'
import { NothingFound } from './NothingFound.js'
import type { OrderBook } from './orderBook.js'

/** Returns the orders of the list that match its filter, the newest first. */
export function useListed({
  orders,
  listed,
  filter,
}: BookState): readonly BookOrder[] {
  return useMemo(
    () =>
      listed
        .flatMap((id) => orders.get(id) ?? [])
        .filter((order) => isShown(order, filter))
        .sort((a, b) => Number(b.createdAt) - Number(a.createdAt)),
    [orders, listed, filter],
  )
}

/** Shows that a list is loading, failed or has nothing. */
export function ListState({
  book,
  state,
  empty,
  onFilter = book.list,
}: {
  book: OrderBook
  state: BookState
  /** The words for a list without orders. */
  empty: string
  onFilter?: OrderBook['list'] | ((filter: BookState['filter']) => void)
}): ReactNode {
  const { filter, status, problem, cursor } = state
  const isEmpty = useListed(state).length === 0
  return (
    <>
      {problem && (
        <div className="inset">
          <Notice
            tone="bad"
            title={problem}
            action={
              <Button size="small" onClick={() => book.list(filter)}>
                Try again
              </Button>
            }
          />
        </div>
      )}
      {status === 'loading' && isEmpty && (
        <div className="inset">
          <Skeleton lines={6} label="Loading the orders" />
        </div>
      )}
      {status === 'ready' && isEmpty && cursor === undefined && (
        <NothingFound filter={filter} onFilter={onFilter}>
          {empty}
        </NothingFound>
      )}
    </>
  )
}

/** Says how far a list was searched, and goes on with it. */
export function More({
  book,
  state: { cursor, searchedTo },
}: {
  book: OrderBook
  state: BookState
}): ReactNode {
  const [busy, setBusy] = useState(false)
  if (cursor === undefined) return null
  return (
    <div className="inset row row-end">
      {searchedTo !== undefined && (
        <span className="muted small" role="status">
          Searched back to{' '}
          {new Date(Number(searchedTo) * 1000).toLocaleDateString()}.
        </span>
      )}
      <Button
        size="small"
        busy={busy}
        onClick={() => {
          setBusy(true)
          void book.listMore().finally(() => setBusy(false))
        }}
      >
        {searchedTo === undefined ? 'Show older orders' : 'Search older orders'}
      </Button>
    </div>
  )
}
