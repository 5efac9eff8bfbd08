import type { Order, OrderEvent, Orders } from 'countersign/orders'
import type { Address } from 'viem'

export type FakeOrders = Pick<Orders, 'events' | 'get'> & {
  /** Writes an event, as a merchant's backend does. */
  tell(
    orderId: string | undefined,
    type: OrderEvent['type'],
    change?: Partial<OrderEvent>,
  ): void
  /** What was asked, the first first. */
  asked: string[]
  /** Throws where a store is to fail; called before each answer. */
  fault: { now: () => void | Promise<void> }
}

export const recipientOf: (name: string) => Address = (name) =>
  `0x${name.repeat(40)}`

/** Orders that are nothing but their events, all to recipient `a`. */
export function fakeOrders(): FakeOrders {
  const written: OrderEvent[] = []
  const asked: string[] = []
  const fault: FakeOrders['fault'] = { now: () => undefined }
  const ofOrder = (id: string) => written.filter((row) => row.orderId === id)
  return {
    asked,
    fault,
    tell: (orderId, type, change = {}) => {
      written.push({
        chainId: 31337,
        token: recipientOf('f'),
        recipient: recipientOf('a'),
        cursor: BigInt(written.length + 1),
        orderId,
        sequence: orderId === undefined ? 0 : ofOrder(orderId).length + 1,
        type,
        at: BigInt(1_000 + written.length),
        data: {},
        ...change,
        // A stream passes the data on without a look at it.
      } as OrderEvent)
    },
    events: async ({ after = 0n, limit = 100, orderId } = {}) => {
      asked.push(`events ${orderId ?? 'all'} ${after}`)
      await fault.now()
      const all = orderId === undefined ? written : ofOrder(orderId)
      const newest = all.at(-1)?.cursor ?? 0n
      if (after === 'latest') return { events: [], cursor: newest }
      const events = all.filter(({ cursor }) => cursor > after).slice(0, limit)
      return { events, cursor: events.at(-1)?.cursor ?? after }
    },
    get: async ({ orderId }) => {
      asked.push(`get ${orderId}`)
      await fault.now()
      return orderOf(ofOrder(orderId))
    },
  }
}

/** An order whose amount tells how many events it had when it was read. */
function orderOf(events: readonly OrderEvent[]): Order {
  const [first] = events
  // The rest of an order is nothing a stream looks at.
  return {
    id: first?.orderId,
    amount: String(events.length),
    token: first?.token,
    recipient: first?.recipient,
    state: 'drafted',
    validAfter: 1n,
    validBefore: 2n,
    refunds: [],
  } as Partial<Order> as Order
}
