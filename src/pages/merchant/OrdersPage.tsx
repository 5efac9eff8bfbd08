import {
  type ReactNode,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { Card } from '../ui/Card.js'
import { BulkBar, isSelectable, type Selection } from './BulkBar.js'
import { BulkCard } from './BulkCard.js'
import { type AskedBulk, BulkDialog } from './BulkDialog.js'
import type { BookState } from './bookState.js'
import { Connection } from './Connection.js'
import { DeadlinesCard } from './DeadlinesCard.js'
import { ExposureCard } from './ExposureCard.js'
import { ListNav } from './ListNav.js'
import { ListState, More, useListed } from './ListState.js'
import type { MerchantApi } from './merchantApi.js'
import { NeedsCard } from './NeedsCard.js'
import { OrderFilters } from './OrderFilters.js'
import { OrdersTable } from './OrdersTable.js'
import type { OrderBook } from './orderBook.js'
import { foundWords, isSearch } from './readSearch.js'
import { SettlementCard } from './SettlementCard.js'
import { SpokenStatus } from './SpokenStatus.js'
import { Summary } from './Summary.js'
import { useShop } from './shop.js'
import { useActions } from './useActions.js'

/** Shows the shop's orders and what needs to be done, live. */
export function OrdersPage({
  api,
  book,
}: {
  api: MerchantApi
  book: OrderBook
}): ReactNode {
  useEffect(() => book.start(), [book])
  const state = useSyncExternalStore(book.subscribe, book.read)
  const actions = useActions(api, {
    onExpect: book.expect,
    onFail: book.fail,
    onDone: book.refresh,
  })
  return (
    <div className="stack stack-wide">
      <div className="page-head">
        <div>
          <h1>Orders</h1>
          <p>Capture when you ship. Until then no money has moved.</p>
        </div>
        <Connection connection={state.connection} />
      </div>
      <ListNav current="" />
      {actions.notice}
      <SpokenStatus order={state.orders.get(actions.actedOn ?? '')} />
      {state.bulk && (
        <BulkCard
          bulk={state.bulk}
          orders={state.orders}
          onDismiss={book.forgetBulk}
        />
      )}
      <NeedsCard orders={state.orders} />
      <Summary orders={state.orders} isPartial={state.isPartial} />
      <OrdersCard book={book} state={state} onAsk={actions.ask} />
      <DeadlinesCard
        orders={state.orders}
        isPartial={state.isPartial}
        onAsk={actions.ask}
      />
      <div className="columns">
        <SettlementCard orders={state.orders} />
        <ExposureCard orders={state.orders} isPartial={state.isPartial} />
      </div>
      {actions.dialog}
    </div>
  )
}

function OrdersCard({
  book,
  state,
  onAsk,
}: {
  book: OrderBook
  state: BookState
  onAsk: Parameters<typeof OrdersTable>[0]['onAsk']
}): ReactNode {
  const { canWrite } = useShop()
  const { filter } = state
  const rows = useListed(state)
  const [round, setRound] = useState(0)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [asked, setAsked] = useState<AskedBulk>()
  const selection: Selection = {
    has: (id) => selected.has(id),
    set: (ids, isSelected) => {
      const next = new Set(selected)
      for (const id of ids)
        if (isSelected) next.add(id)
        else next.delete(id)
      setSelected(next)
    },
  }
  return (
    <Card
      flush
      title={isSearch(filter) ? 'Orders found' : 'All orders'}
      actions={
        <OrderFilters key={round} filter={filter} onFilter={book.list} />
      }
    >
      <ListState
        book={book}
        state={state}
        empty="Orders appear here as soon as a buyer starts to pay."
        onFilter={(next) => {
          void book.list(next)
          // The fields of the form show the new filter.
          setRound(round + 1)
        }}
      />
      {rows.length > 0 && filter.search && (
        <p className="inset muted small">{foundWords(filter)}</p>
      )}
      {canWrite && (
        <BulkBar
          orders={rows}
          selection={selection}
          onAct={(action) =>
            setAsked({
              action,
              orders: rows.filter(
                (order) => selected.has(order.id) && isSelectable(order),
              ),
            })
          }
        />
      )}
      {rows.length > 0 && (
        <OrdersTable
          orders={rows}
          onAsk={onAsk}
          selection={canWrite ? selection : undefined}
        />
      )}
      <More book={book} state={state} />
      <BulkDialog
        asked={asked}
        onClose={() => setAsked(undefined)}
        onConfirm={(action, orderIds) => {
          setAsked(undefined)
          setSelected(new Set())
          void book.act(action, orderIds)
        }}
      />
    </Card>
  )
}
