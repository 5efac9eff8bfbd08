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
    /** Starts to follow the shop. Returns a function that stops it. */
    start: () => () => void
    /** Shows an action as pending until the server answers. */
    expect: (orderId: string, pending: BookOrder['pending']) => void
    /** Shows in the order's row why an action failed. */
    fail: (orderId: string, failure: string) => void
    refresh: (orderId: string) => void
  }

/** Stores the orders of this page and updates them with the server's events. */
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
    // Read the lists once the stream is open: an event between a list and a
    // stream that opens later would be in neither.
    const readAll = (): void => {
      // The table first: the sums take many requests.
      void list(store.read().filter).then(readSums)
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

/**
 * Adds an order to the top of the table, if it matches the filter and is new.
 */
function raise(store: BookStore, order: MerchantOrder): void {
  const { listed, filter, status } = store.read()
  const isNew = status === 'ready' && !listed.includes(order.id)
  if (isNew && isShown(order, filter))
    store.set({ listed: [order.id, ...listed] })
}

/** True if an order matches the filter of the table. */
export function isShown(order: MerchantOrder, filter: OrderFilter): boolean {
  const { states, payer } = filter
  if (states?.length && !states.includes(order.state)) return false
  return !payer || order.payer?.toLowerCase() === payer.toLowerCase()
}
