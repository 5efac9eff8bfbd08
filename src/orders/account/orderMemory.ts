import type { Address } from 'viem'
import type { OrderReason, OrderRecord } from '../../store/types.js'
import type { StoredOrder } from '../model/storedOrder.js'

/**
 * What a submitter remembers about orders that it refused or may refuse to
 * send.
 */
type RefusalMemory = {
  /**
   * Records a reason to refuse an order.
   * @returns true when the last poll found the same reason, so that it is
   * certain.
   */
  confirmDoubt(orderId: string, reason: OrderReason): boolean
  /**
   * Returns the seconds for which a refused order waits; longer with each
   * refusal in a row.
   * @param now Unix seconds of the chain.
   */
  nextPause(orderId: string, now: bigint): bigint
  /** Forgets pauses that ended long ago. */
  dropPauses(now: bigint): void
  /** Forgets the recorded reason, because the order can be sent. */
  forgetDoubt(orderId: string): void
}

/**
 * What a submitter remembers about orders from one step or poll to the next.
 */
export type OrderMemory = RefusalMemory & {
  /**
   * Only orders of these recipients are sent. Transactions in flight are
   * settled for all recipients.
   */
  readonly recipients: readonly Address[]
  sendFor(recipients: readonly Address[]): void
  /**
   * True when it is time to search for orders of removed wallets. Returns true
   * at most once per pause.
   */
  isTimeToAdopt(): boolean
  /**
   * Keeps orders as they were found due, until their transactions are stored.
   */
  rememberDue(storedOrders: readonly StoredOrder[]): void
  forgetDue(): void
  rememberRecorded(orders: readonly OrderRecord[]): void
  /**
   * Returns an order as we last wrote it. Forgets it then, because the store
   * may have a newer version at the next call.
   */
  takeRecorded(orderId: string): StoredOrder | undefined
  /**
   * Forgets all other orders that `rememberRecorded` has kept, because they
   * have nothing in flight any more.
   */
  forgetRecordedExcept(orderIds: readonly string[]): void
}

/** Milliseconds between two searches for orders of removed wallets. */
const adoptEvery = 10_000

export function openOrderMemory(initial: readonly Address[]): OrderMemory {
  let recipients = initial
  /** `performance.now()` at the last search for orders of removed wallets. */
  let adoptedAt = Number.NEGATIVE_INFINITY
  let due: ReadonlyMap<string, StoredOrder> = new Map()
  const recorded = new Map<string, StoredOrder>()
  return {
    get recipients() {
      return recipients
    },
    ...openRefusalMemory(),
    sendFor: (wanted) => {
      recipients = wanted
    },
    isTimeToAdopt: () => {
      const now = performance.now()
      if (now - adoptedAt < adoptEvery) return false
      adoptedAt = now
      return true
    },
    rememberDue: (storedOrders) => {
      due = new Map(storedOrders.map((stored) => [stored.order.id, stored]))
    },
    forgetDue: () => {
      due = new Map()
    },
    rememberRecorded: (orders) => {
      for (const order of orders) {
        const found = due.get(order.id)
        const written = { ...order, version: order.version + 1 }
        // If the order changed since, its attempts and proofs may be outdated
        // too.
        if (found?.order.version === order.version)
          recorded.set(order.id, { ...found, order: written })
      }
    },
    takeRecorded: (orderId) => {
      const stored = recorded.get(orderId)
      recorded.delete(orderId)
      return stored
    },
    forgetRecordedExcept: (orderIds) => {
      for (const id of recorded.keys())
        if (!orderIds.includes(id)) recorded.delete(id)
    },
  }
}

function openRefusalMemory(): RefusalMemory {
  const pauses: RefusalPauses = new Map()
  /**
   * Reasons to refuse orders that the next poll has to confirm, by order id.
   */
  const doubts = new Map<string, OrderReason>()
  return {
    confirmDoubt: (orderId, reason) => {
      const isRepeated = doubts.get(orderId) === reason
      if (isRepeated) doubts.delete(orderId)
      else doubts.set(orderId, reason)
      return isRepeated
    },
    nextPause: (orderId, now) => nextPause(pauses, orderId, now),
    dropPauses: (now) => dropPauses(pauses, now),
    forgetDoubt: (orderId) => {
      doubts.delete(orderId)
    },
  }
}

/**
 * Pause of each refused order, by order id: its length in seconds, and its end
 * in Unix seconds of the chain.
 */
export type RefusalPauses = Map<string, { pause: bigint; until: bigint }>

/** Length in seconds of the first pause and of the longest. */
const first = 2n
const longest = 30n

/**
 * Returns the seconds before a refused order is tried again. They double while
 * refusals follow each other closely. Updates `pauses`.
 *
 * A process that takes over the submitter starts with the first pause again,
 * which costs a few simulations and no gas.
 *
 * @param now Unix seconds of the chain.
 */
export function nextPause(
  pauses: RefusalPauses,
  orderId: string,
  now: bigint,
): bigint {
  const last = pauses.get(orderId)
  const isRow = last !== undefined && now <= last.until + longest
  const doubled = isRow ? 2n * last.pause : first
  const pause = doubled > longest ? longest : doubled
  pauses.set(orderId, { pause, until: now + pause })
  return pause
}

/** Forgets pauses that ended more than 30 seconds ago. */
export function dropPauses(pauses: RefusalPauses, now: bigint): void {
  for (const [orderId, { until }] of pauses)
    if (until + longest < now) pauses.delete(orderId)
}
