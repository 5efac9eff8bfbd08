import { StaleRecordError } from '../../store/errors.js'
import type { NoteRecord, OrderRecord, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { NewEvent } from '../model/changes.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { atRiskLock, type EarlyLimits, reserveEarly } from './reserveEarly.js'

/**
 * A capture whose request is stored in the same database transaction as its
 * signed transaction, which saves a write.
 */
export type JoinedCapture = {
  /** The order as it was last written to the store. */
  stored: StoredOrder
  /**
   * Limits for answering as soon as the pending block shows the capture; absent
   * if the caller waits for a block.
   */
  early: EarlyLimits | undefined
  /** Notes of the caller to update in the same database transaction. */
  notes: readonly NoteRecord[]
}

type PlannedJoin = JoinedCapture & {
  /**
   * The event that reports the request. The order in `stored` contains the
   * request already.
   */
  event: NewEvent
}

/**
 * Captures of one submitter that wait to be stored together with their signed
 * transaction.
 */
export type Joins = {
  /** True while a caller waits for one of its captures. */
  readonly isAwaited: boolean
  /**
   * Offers a capture to the next poll. Resolves to the order once its
   * transaction is stored; to `undefined` if nothing was written, and nothing
   * will be.
   */
  offer(capture: PlannedJoin): Promise<OrderRecord | undefined>
  /**
   * The orders of the offered captures, in the state that they get once the
   * capture is requested.
   */
  offered(): StoredOrder[]
  /**
   * Restarts the time limit of the callers for these orders, because the poll
   * makes progress with them.
   */
  prolong(orderIds: readonly string[]): void
  has(orderId: string): boolean
  /**
   * Returns the captures offered for these orders. From now on their callers
   * cannot withdraw them.
   * @throws {@link StaleRecordError} when a caller has withdrawn one.
   */
  begin(orderIds: readonly string[]): PlannedJoin[]
  settle(orders: readonly OrderRecord[]): void
  /** Tells the callers for these orders that nothing will be written. */
  refuse(orderIds: readonly string[]): void
  /**
   * Begins a poll. Call the returned function at its end: it answers the
   * callers whose captures were offered before the poll and not written by it.
   */
  startLook(): () => void
}

type Join = {
  capture: PlannedJoin
  isOpen: boolean
  isWriting: boolean
  /** Restarts the time after which the caller stops waiting. */
  prolong(): void
  end(order: OrderRecord | undefined): void
}

/** Milliseconds without progress after which a caller stops waiting. */
const patience = 1_000

export function openJoins(): Joins {
  const known = new Map<string, Join>()
  const offered = () => [...known.values()].filter(({ isOpen }) => isOpen)
  const refuse = (orderIds: readonly string[]) => {
    for (const id of orderIds) known.get(id)?.end(undefined)
  }
  return {
    get isAwaited() {
      return offered().length > 0
    },
    offer: (capture) =>
      new Promise((resolve) => {
        const { id } = capture.stored.order
        let timer: ReturnType<typeof setTimeout> | undefined
        const join: Join = {
          capture,
          isOpen: true,
          isWriting: false,
          prolong: () => {
            clearTimeout(timer)
            if (!join.isOpen || join.isWriting) return
            timer = setTimeout(() => join.end(undefined), patience)
          },
          end: (order) => {
            clearTimeout(timer)
            join.isOpen = false
            resolve(order)
          },
        }
        refuse([id])
        known.set(id, join)
        join.prolong()
      }),
    offered: () => offered().map(({ capture }) => capture.stored),
    prolong: (orderIds) => {
      for (const id of orderIds) known.get(id)?.prolong()
    },
    has: (orderId) => known.has(orderId),
    begin: (orderIds) => {
      const joins = orderIds.flatMap((id) => known.get(id) ?? [])
      if (joins.some(({ isOpen }) => !isOpen))
        throw new StaleRecordError({ table: 'orders' })
      for (const join of joins) {
        join.isWriting = true
        join.prolong()
      }
      return joins.map(({ capture }) => capture)
    },
    settle: (orders) => {
      for (const order of orders) {
        known.get(order.id)?.end(order)
        known.delete(order.id)
      }
    },
    refuse,
    startLook: () => {
      const before = new Map(known)
      return () => {
        for (const [id, join] of before) {
          join.end(undefined)
          if (known.get(id) === join) known.delete(id)
        }
      }
    },
  }
}

/**
 * Writes the notes that callers want written with their captures, and reserves
 * answers at `preconfirmed` for them. Returns the orders by id, for the caller
 * to write.
 */
export async function writeJoined(
  context: OrdersContext,
  tables: StoreWriter,
  captures: readonly JoinedCapture[],
): Promise<ReadonlyMap<string, OrderRecord>> {
  const wanted = captures.flatMap(({ stored: { order }, early }) =>
    early ? [{ order, limits: early }] : [],
  )
  // Every writer takes this lock before it locks any row, so that two writers
  // cannot wait for each other forever.
  if (wanted.length > 0) await tables.lock(atRiskLock)
  const reserved = await reserveEarly(context, tables, wanted)
  const notes = captures.flatMap((one) => one.notes)
  if (notes.length > 0) await tables.notes.update(notes)
  return new Map(
    captures.map(({ stored: { order } }) => [
      order.id,
      reserved.get(order.id) ?? order,
    ]),
  )
}
