import type { MerchantOrder } from '../../client/MerchantClient.js'
import type { BookOrder } from './applyEvent.js'
import type { Bulk } from './bulk.js'
import type { OrderFilter } from './merchantApi.js'
import { mergeOrder } from './mergeOrder.js'

export type BookState = {
  orders: ReadonlyMap<string, BookOrder>
  /** Ids of the orders in the table, newest first. */
  listed: readonly string[]
  filter: OrderFilter
  cursor: string | undefined
  /** Unix seconds: older orders were not compared with the filter yet. */
  searchedTo: string | undefined
  status: 'loading' | 'ready' | 'failed'
  problem: string | undefined
  connection: 'connecting' | 'live' | 'lost'
  /** True if the sums leave out old orders. */
  isPartial: boolean
  /** The last action for several orders. */
  bulk: Bulk | undefined
}

export type BookStore = {
  read: () => BookState
  subscribe: (listener: () => void) => () => void
  set: (change: Partial<BookState>) => void
  /** Adds or replaces orders, as the server returned them. */
  keep: (orders: readonly MerchantOrder[]) => void
  /** Changes an order if it is known. */
  patch: (orderId: string, change: (order: BookOrder) => BookOrder) => void
}

/**
 * Stores what the page shows. Calls listeners once for several changes at once.
 */
export function createBookStore(filter: OrderFilter = {}): BookStore {
  let state: BookState = { ...emptyBook, filter }
  const listeners = new Set<() => void>()
  let isTelling = false

  function set(change: Partial<BookState>): void {
    state = { ...state, ...change }
    if (isTelling) return
    isTelling = true
    queueMicrotask(() => {
      isTelling = false
      for (const listener of listeners) listener()
    })
  }

  return {
    read: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set,
    keep(orders) {
      const next = new Map(state.orders)
      for (const order of orders)
        next.set(order.id, mergeOrder(next.get(order.id), order))
      set({ orders: next })
    },
    patch(orderId, change) {
      const known = state.orders.get(orderId)
      if (known)
        set({ orders: new Map(state.orders).set(orderId, change(known)) })
    },
  }
}

const emptyBook: BookState = {
  orders: new Map(),
  listed: [],
  filter: {},
  cursor: undefined,
  searchedTo: undefined,
  status: 'loading',
  problem: undefined,
  connection: 'connecting',
  isPartial: false,
  bulk: undefined,
}
