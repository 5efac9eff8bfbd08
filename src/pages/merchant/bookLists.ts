import type { OrderState } from '../../store/types.js'
import type { BookStore } from './bookState.js'
import type { MerchantApi, OrderFilter } from './merchantApi.js'
import { type FoundOrders, readOrders } from './readOrders.js'
import { readSearch, type SearchTarget } from './readSearch.js'
import { wordsOf } from './wordsOf.js'

/** States in which a signature that the shop holds can still be spent. */
const openStates: readonly OrderState[] = [
  'stored',
  'capturing',
  'canceling',
  'voided',
]

/** Pages of 200 orders to read for the sums and the chart, at most. */
const maxPages = 10

const noTarget = {
  orderId: undefined,
  payer: undefined,
  recipient: undefined,
  transaction: undefined,
} satisfies SearchTarget

const noOrders: FoundOrders = {
  orders: [],
  cursor: undefined,
  searchedTo: undefined,
}

export type BookLists = {
  list: (filter: OrderFilter) => Promise<void>
  listMore: () => Promise<void>
  /** Reads the orders that the sums are made of. */
  readSums: () => Promise<void>
}

/** Reads pages of orders. Ignores an answer if a newer list was requested. */
export function createBookLists(api: MerchantApi, store: BookStore): BookLists {
  let listing = 0

  async function list(filter: OrderFilter): Promise<void> {
    listing += 1
    const turn = listing
    store.set({ filter, status: 'loading', problem: undefined })
    try {
      const targets = filter.search
        ? readSearch(filter.search, store.read().orders.values())
        : [filter]
      let narrowed: OrderFilter = { ...filter, ...noTarget }
      let found: FoundOrders = noOrders
      for (const target of targets) {
        narrowed = { ...filter, ...noTarget, ...target }
        found = await readOrders(api, narrowed)
        if (turn !== listing) return
        if (found.orders.length > 0) break
      }
      const { orders, cursor, searchedTo } = found
      store.keep(orders)
      const listed = orders.map(({ id }) => id)
      store.set({
        filter: narrowed,
        listed,
        cursor,
        searchedTo,
        status: 'ready',
      })
    } catch (error) {
      if (turn !== listing) return
      store.set({ status: 'failed', problem: wordsOf(error) })
    }
  }

  async function listMore(): Promise<void> {
    const { cursor: before, filter } = store.read()
    const turn = listing
    try {
      const { orders, cursor, searchedTo } = await readOrders(
        api,
        filter,
        before,
      )
      if (turn !== listing) return
      store.keep(orders)
      const ids = orders.map(({ id }) => id)
      const listed = [...new Set([...store.read().listed, ...ids])]
      store.set({ listed, cursor, searchedTo })
    } catch (error) {
      store.set({ problem: wordsOf(error) })
    }
  }

  async function readAll(states: readonly OrderState[]): Promise<void> {
    let before: string | undefined
    for (let page = 0; page < maxPages; page += 1) {
      const { orders, cursor } = await api.list({ states, before, limit: 200 })
      store.keep(orders)
      if (cursor === undefined) return
      before = cursor
    }
    store.set({ isPartial: true })
  }

  async function readSums(): Promise<void> {
    try {
      await readAll(openStates)
      await readAll(['captured'])
    } catch {
      store.set({ isPartial: true })
    }
  }
  return { list, listMore, readSums }
}
