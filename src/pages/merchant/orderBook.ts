import type {
  MerchantEvent,
  MerchantOrder,
} from '../../client/MerchantClient.js'
import { failedWords, sentenceOf } from './actionWords.js'
import { applyEvent, type BookOrder } from './applyEvent.js'
import { type BookLists, createBookLists } from './bookLists.js'
import { type BookStore, createBookStore } from './bookState.js'
import { type Bulk, type BulkAction, workOnEach } from './bulk.js'
import { followEvents } from './followEvents.js'
import { isShown } from './isShown.js'
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
    /**
     * Acts on several orders, a few at the same time. An order whose request
     * fails keeps the others going, and shows why.
     */
    act: (action: BulkAction, orderIds: readonly string[]) => Promise<void>
    /** Hides the result of the last action for several orders. */
    forgetBulk: () => void
  }

/** Requests of an action for several orders that run at the same time. */
const actAtOnce = 4

/**
 * Stores the orders of this page and updates them with the server's events.
 *
 * @param first the filter of the first list. A list of refunds or ceilings has
 * no sums.
 */
export function createOrderBook(
  api: MerchantApi,
  first: OrderFilter = {},
): OrderBook {
  const store = createBookStore(first)
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
      const { filter, bulk } = store.read()
      // The table first: the sums take many requests.
      void list(filter).then(() => (first.has ? undefined : readSums()))
      bulk?.orderIds.forEach(refresh)
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

  const expect: OrderBook['expect'] = (orderId, pending) =>
    store.patch(orderId, (order) => ({ ...order, pending, failure: undefined }))

  const fail: OrderBook['fail'] = (orderId, failure) =>
    store.patch(orderId, (order) => ({ ...order, pending: undefined, failure }))

  async function act(
    action: BulkAction,
    orderIds: readonly string[],
  ): Promise<void> {
    let unanswered = orderIds.length
    let bulk: Bulk = { action, orderIds, unanswered }
    store.set({ bulk })
    const pending = action === 'capture' ? action : undefined
    for (const orderId of orderIds) expect(orderId, pending)
    await workOnEach(orderIds, actAtOnce, async (orderId) => {
      try {
        await api[action](orderId)
      } catch (error) {
        fail(orderId, `${failedWords[action]}. ${sentenceOf(action, error)}`)
      }
      refresh(orderId)
      unanswered -= 1
      const isShown = store.read().bulk === bulk
      bulk = { action, orderIds, unanswered }
      if (isShown) store.set({ bulk })
    })
    // No event reports a capture that fails again for the same reason.
    if (pending)
      for (const pause of [1_500, 5_000])
        setTimeout(() => orderIds.forEach(refresh), pause)
  }

  return {
    read: store.read,
    subscribe: store.subscribe,
    list,
    listMore,
    start,
    refresh,
    expect,
    fail,
    act,
    forgetBulk: () => store.set({ bulk: undefined }),
  }
}

/**
 * Adds an order to the top of the table, if it matches the filter and is new.
 */
function raise(store: BookStore, order: MerchantOrder): void {
  const { listed, filter, status } = store.read()
  const { search, orderId, payer, recipient } = filter
  const isNew = status === 'ready' && !listed.includes(order.id)
  // Only the server knows the orders of a transaction.
  const isKnown = !search || (orderId ?? payer ?? recipient) !== undefined
  if (isNew && isKnown && isShown(order, filter))
    store.set({ listed: [order.id, ...listed] })
}
