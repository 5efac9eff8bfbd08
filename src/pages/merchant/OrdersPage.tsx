import {
  type ReactNode,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react'
import { Badge } from '../ui/Badge.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { EmptyState } from '../ui/EmptyState.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import type { BookState } from './bookState.js'
import { DeadlinesCard } from './DeadlinesCard.js'
import { ExposureCard } from './ExposureCard.js'
import type { MerchantApi } from './merchantApi.js'
import { NeedsCard } from './NeedsCard.js'
import { OrderFilters } from './OrderFilters.js'
import { OrdersTable } from './OrdersTable.js'
import { isShown, type OrderBook } from './orderBook.js'
import { SettlementCard } from './SettlementCard.js'
import { SpokenStatus } from './SpokenStatus.js'
import { Summary } from './Summary.js'
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
      {actions.notice}
      <SpokenStatus order={state.orders.get(actions.actedOn ?? '')} />
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
  const { orders, listed, filter, status, problem, cursor } = state
  const rows = useMemo(
    () =>
      listed
        .flatMap((id) => orders.get(id) ?? [])
        .filter((order) => isShown(order, filter))
        .sort((a, b) => Number(b.createdAt) - Number(a.createdAt)),
    [orders, listed, filter],
  )
  return (
    <Card
      flush
      title="All orders"
      actions={<OrderFilters filter={filter} onFilter={book.list} />}
    >
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
      {status === 'loading' && rows.length === 0 && (
        <div className="inset">
          <Skeleton lines={6} label="Loading the orders" />
        </div>
      )}
      {status === 'ready' && rows.length === 0 && (
        <EmptyState level={3} title="No orders here">
          {filter.states || filter.payer
            ? 'No order matches these filters.'
            : 'Orders appear here as soon as a buyer starts to pay.'}
        </EmptyState>
      )}
      {rows.length > 0 && <OrdersTable orders={rows} onAsk={onAsk} />}
      {cursor !== undefined && <More onMore={book.listMore} />}
    </Card>
  )
}

function More({ onMore }: { onMore: () => Promise<void> }): ReactNode {
  const [busy, setBusy] = useState(false)
  return (
    <div className="inset row row-end">
      <Button
        size="small"
        busy={busy}
        onClick={() => {
          setBusy(true)
          void onMore().finally(() => setBusy(false))
        }}
      >
        Show older orders
      </Button>
    </div>
  )
}

function Connection({ connection }: Pick<BookState, 'connection'>): ReactNode {
  return (
    <div role="status">
      {connection === 'live' && <Badge tone="good">Live</Badge>}
      {connection === 'connecting' && <Badge busy>Connecting</Badge>}
      {connection === 'lost' && (
        <Badge tone="warn" busy>
          Connection lost, trying again
        </Badge>
      )}
    </div>
  )
}
