import type {
  MerchantEvent,
  MerchantOrder,
} from '../../client/MerchantClient.js'
import { applyEvent, type BookOrder } from './applyEvent.js'
import { type BookLists, createBookLists } from './bookLists.js'
import { type BookStore, createBookStore } from './bookState.js'
import { followEvents } from './followEvents.js'
import type { MerchantApi, OrderFilter } from './merchantApi.js'
import { rereadOrders } from './rereadOrders.js'

export type OrderBook = Pick<BookStore, 'read' | 'subscribe'> &
  Pick<BookLists, 'list' | 'listMore'> & {
    /** Follows the shop until stopped. */
    start: () => () => void
    /** Shows what is about to be, before the server says so. */
    expect: (orderId: string, pending: BookOrder['pending']) => void
    /** Shows in the order's row why something was not done. */
    fail: (orderId: string, failure: string) => void
    refresh: (orderId: string) => void
  }

/** Keeps the orders this page knows as the server tells of them. */
export function createOrderBook(api: MerchantApi): OrderBook {
  const store = createBookStore()
  const { list, listMore, readSums } = createBookLists(api, store)
  const refresh = rereadOrders(api, (order) => {
    store.keep([order])
    raise(store, order)
  })
  let after: string | undefined

  function tell(event: MerchantEvent): void {
    const { orderId, cursor } = event
    after = cursor
    if (orderId === undefined) return
    store.patch(orderId, (order) => applyEvent(order, event))
    refresh(orderId)
  }

  function start(): () => void {
    const control = new AbortController()
    // What happens between a list and a stream that begins after it is in
    // neither of the two.
    const readAll = (): void => {
      void list(store.read().filter)
      void readSums()
    }
    void followEvents({
      api,
      after,
      signal: control.signal,
      onEvent: tell,
      onPresent: readAll,
      onConnection: (isLive) => {
        const isFirst = store.read().connection === 'connecting'
        store.set({ connection: isLive ? 'live' : 'lost' })
        if (isFirst && !isLive) readAll()
      },
    })
    if (after !== undefined) readAll()
    return () => control.abort()
  }

  return {
    read: store.read,
    subscribe: store.subscribe,
    list,
    listMore,
    start,
    refresh,
    expect: (orderId, pending) =>
      store.patch(orderId, (order) => ({
        ...order,
        pending,
        failure: undefined,
      })),
    fail: (orderId, failure) =>
      store.patch(orderId, (order) => ({
        ...order,
        pending: undefined,
        failure,
      })),
  }
}

/** Puts an order on top that belongs into the table and is not there yet. */
function raise(store: BookStore, order: MerchantOrder): void {
  const { listed, filter, status } = store.read()
  const isNew = status === 'ready' && !listed.includes(order.id)
  if (isNew && isShown(order, filter))
    store.set({ listed: [order.id, ...listed] })
}

/** Whether an order belongs into the table as it is filtered. */
export function isShown(order: MerchantOrder, filter: OrderFilter): boolean {
  const { states, payer } = filter
  if (states?.length && !states.includes(order.state)) return false
  return !payer || order.payer?.toLowerCase() === payer.toLowerCase()
}
