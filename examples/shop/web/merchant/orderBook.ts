import type { OrderState } from 'countersign/orders'
import { applyEvent, type BookOrder } from './applyEvent.js'
import { followEvents } from './followEvents.js'
import {
  type MerchantApi,
  type OrderFilter,
  ProblemError,
} from './merchantApi.js'
import type { WireEvent, WireOrder } from './wire.js'

/** States in which a signature that is held may still be spent. */
const openStates: readonly OrderState[] = [
  'stored',
  'capturing',
  'canceling',
  'voided',
]

/** Pages of 200 that sums and chart are made of, at most. */
const maxPages = 10

/** Orders read at once when the stream told of them. */
const batch = 4

export type BookState = {
  orders: ReadonlyMap<string, BookOrder>
  /** Ids of the table, newest first. */
  listed: readonly string[]
  filter: OrderFilter
  cursor: string | undefined
  status: 'loading' | 'ready' | 'failed'
  problem: string | undefined
  connection: 'connecting' | 'live' | 'lost'
  /** The sums leave out orders of long ago. */
  isPartial: boolean
}

export type OrderBook = {
  subscribe: (listener: () => void) => () => void
  read: () => BookState
  /** Follows the shop until stopped. */
  start: () => () => void
  list: (filter: OrderFilter) => Promise<void>
  listMore: () => Promise<void>
  /** Shows what is about to be, before the server says so. */
  expect: (orderId: string, pending: BookOrder['pending']) => void
  refresh: (orderId: string) => void
}

/** Keeps the orders this page knows as the server tells of them. */
export function createOrderBook(api: MerchantApi): OrderBook {
  let state: BookState = {
    orders: new Map(),
    listed: [],
    filter: {},
    cursor: undefined,
    status: 'loading',
    problem: undefined,
    connection: 'connecting',
    isPartial: false,
  }
  const listeners = new Set<() => void>()
  const stale = new Set<string>()
  let after: string | undefined
  let listing = 0
  let isTelling = false
  let isReading = false

  function set(change: Partial<BookState>): void {
    state = { ...state, ...change }
    if (isTelling) return
    isTelling = true
    queueMicrotask(() => {
      isTelling = false
      for (const listener of listeners) listener()
    })
  }

  function keep(orders: readonly WireOrder[]): void {
    const next = new Map(state.orders)
    for (const order of orders) {
      const { isCancelKept, pending } = next.get(order.id) ?? {}
      next.set(order.id, { ...order, isCancelKept, pending })
    }
    set({ orders: next })
  }

  async function list(filter: OrderFilter): Promise<void> {
    listing += 1
    const turn = listing
    set({ filter, status: 'loading', problem: undefined })
    try {
      const { orders, cursor } = await api.list(filter)
      if (turn !== listing) return
      keep(orders)
      set({ listed: orders.map(({ id }) => id), cursor, status: 'ready' })
    } catch (error) {
      if (turn === listing) set({ status: 'failed', problem: wordsOf(error) })
    }
  }

  async function listMore(): Promise<void> {
    const { cursor: before, filter } = state
    if (before === undefined) return
    const turn = listing
    try {
      const { orders, cursor } = await api.list({ ...filter, before })
      if (turn !== listing) return
      keep(orders)
      const listed = [...state.listed, ...orders.map(({ id }) => id)]
      set({ listed: [...new Set(listed)], cursor })
    } catch (error) {
      set({ problem: wordsOf(error) })
    }
  }

  async function readSums(): Promise<void> {
    for (const states of [openStates, ['captured']] as const) {
      let before: string | undefined
      for (let page = 0; page < maxPages; page += 1) {
        const { orders, cursor } = await api.list({
          states,
          before,
          limit: 200,
        })
        keep(orders)
        before = cursor
        if (cursor === undefined) break
      }
      if (before !== undefined) set({ isPartial: true })
    }
  }

  function tell(event: WireEvent): void {
    const { orderId, cursor } = event
    after = cursor
    if (orderId === undefined) return
    const known = state.orders.get(orderId)
    if (known) {
      const orders = new Map(state.orders)
      orders.set(orderId, applyEvent(known, event))
      set({ orders })
    }
    refresh(orderId)
  }

  function raise(order: WireOrder): void {
    const { listed, filter, status } = state
    const isNew = status === 'ready' && !listed.includes(order.id)
    if (isNew && isShown(order, filter)) set({ listed: [order.id, ...listed] })
  }

  function refresh(orderId: string): void {
    stale.add(orderId)
    if (isReading) return
    isReading = true
    setTimeout(readStale, 60)
  }

  async function readStale(): Promise<void> {
    while (stale.size > 0) {
      const ids = [...stale].slice(0, batch)
      for (const id of ids) stale.delete(id)
      const orders = await Promise.all(
        ids.map((id) => api.get(id).catch(() => undefined)),
      )
      for (const order of orders) {
        // Something newer was told meanwhile; it is read again anyway.
        if (!order || stale.has(order.id)) continue
        keep([order])
        raise(order)
      }
    }
    isReading = false
  }

  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    read: () => state,
    start() {
      const control = new AbortController()
      const { signal } = control
      void followEvents({
        api,
        after,
        signal,
        onEvent: tell,
        onConnection: (isLive) => set({ connection: isLive ? 'live' : 'lost' }),
      })
      void list(state.filter)
      void readSums().catch(() => set({ isPartial: true }))
      return () => control.abort()
    },
    list,
    listMore,
    expect(orderId, pending) {
      const known = state.orders.get(orderId)
      if (!known) return
      const orders = new Map(state.orders)
      orders.set(orderId, { ...known, pending })
      set({ orders })
    },
    refresh,
  }
}

/** What went wrong, in a sentence a merchant can read. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProblemError)
    return error.status === 401
      ? 'This key is not the shop’s. Open the link from the terminal again.'
      : error.message
  return 'The shop does not answer. Is it still running?'
}

/** Whether an order belongs into the table as it is filtered. */
export function isShown(order: WireOrder, filter: OrderFilter): boolean {
  const { states, payer } = filter
  if (states?.length && !states.includes(order.state)) return false
  return !payer || order.payer?.toLowerCase() === payer.toLowerCase()
}
