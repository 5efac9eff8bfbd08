import { parseOrderId } from '../../core/parseOrderId.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  OrderQuery,
  OrderRecord,
  Reader,
  StoreReader,
  TransactionRecord,
} from '../../store/types.js'
import { OrderNotFoundError } from './errors.js'
import { isRefund } from './refundRow.js'
import type { StoredOrder } from './storedOrder.js'

/** The tables that loading an order reads, of a reader or a writer. */
export type OrderTables = Pick<StoreReader, 'attempts' | 'proofs'> & {
  orders: Reader<OrderRecord, OrderQuery>
}

/**
 * Loads the orders that a query finds, in the order of the query, by id. Needs
 * three database queries, however many orders there are.
 *
 * @param isWanted decides by the order's row alone, before attempts and proofs
 * are loaded.
 */
export async function loadOrders(
  tables: OrderTables,
  query: OrderQuery,
  isWanted: (order: OrderRecord) => boolean = () => true,
): Promise<ReadonlyMap<string, StoredOrder>> {
  if ('ids' in query && query.ids.length === 0) return new Map()
  const orders = (await tables.orders.find(query)).filter(isWanted)
  if (orders.length === 0) return new Map()
  const orderIds = orders.map(({ id }) => id)
  const attempts = groupRows(await tables.attempts.find({ orderIds }))
  const proofs = groupRows(await tables.proofs.find({ orderIds }))
  return new Map(
    orders.flatMap((order): [string, StoredOrder][] => {
      const { id } = order
      const own = attempts.get(id) ?? []
      const attempt = own.find(({ number }) => number === order.attempt)
      if (!attempt) return []
      return [
        [id, { order, attempt, attempts: own, proofs: proofs.get(id) ?? [] }],
      ]
    }),
  )
}

/**
 * Loads an order of this instance's recipients and tokens.
 * @throws {@link OrderNotFoundError} when there is none with this id.
 */
export async function loadOrder(
  tables: OrderTables,
  { destinations }: { destinations: readonly Destination[] },
  orderId: string,
): Promise<StoredOrder> {
  const id = parseOrderId(orderId)
  const found = await loadOrders(tables, { ids: [id] }, (order) =>
    isInDestinations(order, destinations),
  )
  const stored = (await withRefunds(tables, found)).get(id)
  if (!stored) throw new OrderNotFoundError({ orderId: id })
  return stored
}

/** Loads the refunds of the given orders, and returns the orders with them. */
export async function withRefunds(
  tables: OrderTables,
  orders: ReadonlyMap<string, StoredOrder>,
): Promise<ReadonlyMap<string, StoredOrder>> {
  const refundsOf = [...orders.values()]
    .filter(({ order }) => order.refunds > 0)
    .map(({ order }) => order.id)
  if (refundsOf.length === 0) return orders
  const found = [...(await loadOrders(tables, { refundsOf })).values()]
  const refunds = found.flatMap((stored) =>
    isRefund(stored.order) ? [{ row: stored.order, stored }] : [],
  )
  return new Map(
    [...orders].map(([id, stored]) => [
      id,
      {
        ...stored,
        refunds: refunds.filter(({ row }) => row.parentId === id),
      },
    ]),
  )
}

export async function loadTransactions(
  { transactions }: { transactions: StoreReader['transactions'] },
  orderIds: readonly string[],
): Promise<TransactionRecord[]> {
  return orderIds.length === 0 ? [] : transactions.find({ orderIds })
}

function groupRows<row extends { orderId: string | undefined }>(
  rows: readonly row[],
): ReadonlyMap<string | undefined, row[]> {
  const groups = new Map<string | undefined, row[]>()
  for (const row of rows) {
    const group = groups.get(row.orderId)
    if (group) group.push(row)
    else groups.set(row.orderId, [row])
  }
  return groups
}
