import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react'
import { Card } from '../ui/Card.js'
import { CeilingsTable } from './CeilingsTable.js'
import { Connection } from './Connection.js'
import { ListNav } from './ListNav.js'
import { ListState, More, useListed } from './ListState.js'
import type { MerchantApi, OrderFilter } from './merchantApi.js'
import { createOrderBook } from './orderBook.js'
import { RefundsTable } from './RefundsTable.js'

type ListName = 'refunds' | 'ceilings'

type List = {
  has: OrderFilter['has']
  title: string
  text: string
  empty: string
  Table: typeof RefundsTable
}

const lists: Readonly<Record<ListName, List>> = {
  refunds: {
    has: 'refunds',
    title: 'Refunds',
    text: 'Money that you pay back, and what became of it.',
    empty: 'No order has a refund. You request one on the page of its order.',
    Table: RefundsTable,
  },
  ceilings: {
    has: 'ceiling',
    title: 'Ceilings',
    text: 'Orders whose buyer signed a most. You name the amount when you capture.',
    empty: 'No order has a ceiling.',
    Table: CeilingsTable,
  },
}

/** Lists all refunds or ceilings of the shop, live. */
export function ListPage({
  api,
  name,
}: {
  api: MerchantApi
  name: ListName
}): ReactNode {
  const { has, title, text, empty, Table } = lists[name]
  const book = useMemo(() => createOrderBook(api, { has }), [api, has])
  useEffect(() => book.start(), [book])
  const state = useSyncExternalStore(book.subscribe, book.read)
  const orders = useListed(state)
  return (
    <div className="stack stack-wide">
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          <p>{text}</p>
        </div>
        <Connection connection={state.connection} />
      </div>
      <ListNav current={name} />
      <Card flush title={`All ${name}`}>
        <ListState book={book} state={state} empty={empty} />
        {orders.length > 0 && <Table orders={orders} />}
        <More book={book} state={state} />
      </Card>
    </div>
  )
}
