import type {
  AttemptRecord,
  OrderRecord,
  OrderState,
  ProofRecord,
  StoreWriter,
  TransactionRecord,
} from '../../store/types.js'
import { earlyAfter } from './earlyAnswer.js'
import { isMovement, movementEventOf } from './movementEvents.js'
import { inState, type MoveCause } from './moves.js'
import type {
  OrderEvent,
  OrderEventData,
  OrderEventType,
} from './orderEvents.js'
import { refundEventOf } from './refundEvents.js'
import { isRefund } from './refundRow.js'

export type NewEvent = {
  [type in OrderEventType]: Omit<OrderEvent<type>, 'cursor'>
}[OrderEventType]

type TypeOfOrder = Extract<OrderEvent, { orderId: string }>['type']

type EventFacts = {
  [type in TypeOfOrder]: Pick<OrderEvent<type>, 'type' | 'at'> & {
    // For an event without data, allow only an empty object: without this,
    // TypeScript would accept any data.
    data: keyof OrderEventData[type] extends never
      ? Record<string, never>
      : OrderEventData[type]
  }
}[TypeOfOrder]

/**
 * Rows that one database transaction writes. We collect them first, so that a
 * few statements write all.
 */
export type Changes = {
  orders: OrderRecord[]
  attempts: AttemptRecord[]
  transactions: TransactionRecord[]
  newTransactions: Omit<TransactionRecord, 'version'>[]
  proofs: ProofRecord[]
  newProofs: Omit<ProofRecord, 'version'>[]
  events: NewEvent[]
}

export function noChanges(): Changes {
  return {
    orders: [],
    attempts: [],
    transactions: [],
    newTransactions: [],
    proofs: [],
    newProofs: [],
    events: [],
  }
}

/**
 * Joins several changes, so that one database transaction writes them together.
 */
export function joinChanges(all: readonly Changes[]): Changes {
  return {
    orders: all.flatMap(({ orders }) => orders),
    attempts: all.flatMap(({ attempts }) => attempts),
    transactions: all.flatMap(({ transactions }) => transactions),
    newTransactions: all.flatMap(({ newTransactions }) => newTransactions),
    proofs: all.flatMap(({ proofs }) => proofs),
    newProofs: all.flatMap(({ newProofs }) => newProofs),
    events: all.flatMap(({ events }) => events),
  }
}

/**
 * Writes the rows of one database transaction. Settles the early answers of all
 * orders first.
 *
 * @param at Unix milliseconds, for the events that this function adds.
 * @returns the orders as written, but with the `version` from before.
 */
export async function writeChanges(
  tables: StoreWriter,
  changes: Changes,
  at: bigint,
): Promise<readonly OrderRecord[]> {
  const settled = settleEarly(changes, at)
  const { orders, events } = await reportRefunds(
    tables,
    reportMovements(settled),
  )
  const { attempts, transactions, proofs } = changes
  if (orders.length) await tables.orders.update(orders)
  if (attempts.length) await tables.attempts.update(attempts)
  if (changes.newTransactions.length)
    await tables.transactions.insert(changes.newTransactions)
  if (transactions.length) await tables.transactions.update(transactions)
  if (changes.newProofs.length) await tables.proofs.insert(changes.newProofs)
  if (proofs.length) await tables.proofs.update(proofs)
  if (events.length) await tables.events.append(events)
  return orders
}

/**
 * Updates the field `early` of orders whose capture is decided or no longer
 * wanted: releases an answer that was not given, and adds the event
 * `servedUnpaid` for one that was given and is not paid. `writeChanges` passes
 * every order through this function, so that no step can forget it.
 *
 * @param at Unix milliseconds.
 */
export function settleEarly<changes extends Pick<Changes, 'orders' | 'events'>>(
  changes: changes,
  at: bigint,
): changes {
  if (changes.orders.every((order) => earlyAfter(order) === order.early))
    return changes
  const events = [...changes.events]
  const orders = changes.orders.map((order) => {
    const early = earlyAfter(order)
    if (early !== 'unpaid' || order.early === 'unpaid')
      return { ...order, early }
    const value = String(order.captureValue ?? order.value)
    const told = withEvent(
      order,
      { type: 'servedUnpaid', at, data: { value, payer: order.payer } },
      { early },
    )
    events.push(told.event)
    return told.order
  })
  return { ...changes, orders, events }
}

/**
 * Reports what happened to movements as events of their channels: who waits for
 * an order's `captured` or `expired` must not take these for orders.
 */
function reportMovements(changes: Changes): Changes {
  const rows = new Map(
    changes.orders.filter(isMovement).map((row) => [row.id, row]),
  )
  if (rows.size === 0) return changes
  const events = changes.events.flatMap((event) => {
    const row = rows.get(event.orderId ?? '')
    return row ? (movementEventOf(row, event) ?? []) : [event]
  })
  return { ...changes, events }
}

/**
 * Reports what happened to refunds as events of the orders that they refund, in
 * the same database transaction.
 */
async function reportRefunds(
  tables: Pick<StoreWriter, 'orders'>,
  { orders, events }: Changes,
): Promise<Pick<Changes, 'orders' | 'events'>> {
  const rows = new Map(orders.filter(isRefund).map((row) => [row.id, row]))
  const rowOf = ({ orderId = '' }: NewEvent) => rows.get(orderId)
  if (!events.some(rowOf)) return { orders, events }
  const reports = events.flatMap((event) => {
    const row = rowOf(event)
    const facts = row && refundEventOf(row, event)
    return facts ? [{ orderId: row.parentId, facts }] : []
  })
  const ids = [...new Set(reports.map(({ orderId }) => orderId))]
  const missing = ids.filter((id) => orders.every((order) => order.id !== id))
  const found = missing.length ? await tables.orders.find({ ids: missing }) : []
  const current = new Map([...orders, ...found].map((row) => [row.id, row]))
  const reported = events.filter((event) => !rowOf(event))
  for (const { orderId, facts } of reports) {
    const order = current.get(orderId)
    if (!order) continue
    const next = withEvent(order, facts)
    current.set(orderId, next.order)
    reported.push(next.event)
  }
  return { orders: [...current.values()], events: reported }
}

/**
 * Moves an order to another state, and adds the event that reports the move.
 *
 * @throws {@link TransitionError} when `moves` does not allow it.
 */
export function moveOrder(
  order: OrderRecord,
  cause: MoveCause,
  to: OrderState,
  event: EventFacts,
  fields: Partial<OrderRecord> = {},
): { order: OrderRecord; event: NewEvent } {
  return withEvent(inState(order, cause, to), event, fields)
}

/**
 * Returns an order with changed fields, and the event that reports the change.
 */
export function withEvent(
  order: OrderRecord,
  facts: EventFacts,
  fields: Partial<OrderRecord> = {},
): { order: OrderRecord; event: NewEvent } {
  const sequence = order.sequence + 1
  const { id: orderId, chainId, token, recipient } = order
  return {
    order: { ...order, ...fields, sequence },
    event: { orderId, chainId, token, recipient, sequence, ...facts },
  }
}
