import type { OrderEvent, OrderEventType, Orders } from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { EventRecord } from '../../../src/store/types.js'

const destination = {
  chainId: 8453,
  token: `0x${'a'.repeat(40)}`,
  recipient: `0x${'b'.repeat(40)}`,
} as const

/** A store with a stream of events, and as much of orders as reads it. */
export type Stream = {
  store: PaymentStore
  orders: Pick<Orders, 'events'>
  /** Appends the next event of an order. */
  tell(orderId: string | undefined, ...types: OrderEventType[]): Promise<void>
}

export function createStream(store: PaymentStore = memoryStore()): Stream {
  const sequences = new Map<string | undefined, number>()
  const rowOf = (orderId: string | undefined, type: OrderEventType) => {
    const sequence =
      orderId === undefined ? 0 : (sequences.get(orderId) ?? 0) + 1
    sequences.set(orderId, sequence)
    const at = 1_760_000_000_123n
    const data = { value: '12500000' }
    return { ...destination, orderId, sequence, type, at, data }
  }
  return {
    store,
    orders: { events: (parameters = {}) => readEvents(store, parameters) },
    tell: async (orderId, ...types) => {
      const rows = types.map((type) => rowOf(orderId, type))
      await store.write(({ events }) => events.append(rows))
    },
  }
}

async function readEvents(
  store: PaymentStore,
  {
    after = 0n,
    limit = 100,
    orderId,
  }: NonNullable<Parameters<Orders['events']>[0]>,
): ReturnType<Orders['events']> {
  const from = after === 'latest' ? 0n : after
  const size = after === 'latest' ? 1_000_000 : limit
  const rows = await store.read(async ({ events }) => {
    if (orderId === undefined)
      return events.find({
        destinations: [destination],
        after: from,
        limit: size,
      })
    const all = await events.find({ orderIds: [orderId] })
    return all.filter(({ cursor }) => cursor > from).slice(0, size)
  })
  const cursor = rows.at(-1)?.cursor ?? from
  return { events: after === 'latest' ? [] : rows.map(asEvent), cursor }
}

// Only `tell` writes here, and by this type.
const asEvent = (row: EventRecord): OrderEvent => row as OrderEvent
