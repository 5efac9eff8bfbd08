import type { AttemptRecord, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { type NewEvent, withEvent } from '../model/changes.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { checkRecipient } from './draftFacts.js'
import type { Draft } from './planDraft.js'

type Report = Parameters<typeof withEvent>[1]

/** The report that an order was drafted, with its first attempt. */
export function draftedReport(
  { now }: Pick<OrdersContext, 'now'>,
  { order, attempt }: Draft,
): Report {
  const { nonce, validBefore } = attempt
  const value = String(attempt.value)
  return {
    type: 'drafted',
    at: now(),
    data: {
      value,
      ...(order.total === 'atMost' ? { atMost: value } : {}),
      nonce,
      validBefore: String(validBefore),
    },
  }
}

/**
 * Inserts a new draft.
 *
 * @throws {@link InvalidFieldError} when the shop takes no orders for its
 * recipient.
 */
export async function insertDraft(
  context: Pick<OrdersContext, 'now' | 'shop'>,
  tables: StoreWriter,
  draft: Draft,
): Promise<StoredOrder> {
  await checkRecipient(context, tables, draft.order)
  return insertOrder(tables, draft, [draftedReport(context, draft)])
}

/**
 * Inserts a new order and its first attempt, with the events that report them.
 * The store sets position and version. In what this returns they are
 * placeholders, which nothing shows.
 *
 * @throws {@link DuplicateRecordError} when there is an order of this id.
 */
export async function insertOrder(
  tables: Pick<StoreWriter, 'orders' | 'attempts' | 'events'>,
  { order: planned, attempt: plannedAttempt }: Draft,
  reports: readonly Report[],
): Promise<StoredOrder> {
  let order = { ...planned, version: 1, position: 0n }
  const events: NewEvent[] = []
  for (const report of reports) {
    const changed = withEvent(order, report)
    order = changed.order
    events.push(changed.event)
  }
  const { version, position, ...row } = order
  await tables.orders.insert([row])
  await tables.attempts.insert([plannedAttempt])
  await tables.events.append(events)
  const attempt: AttemptRecord = { ...plannedAttempt, version }
  return { order, attempt, attempts: [attempt], proofs: [] }
}
