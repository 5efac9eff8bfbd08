import type {
  OrderRecord,
  StoreReader,
  StoreWriter,
} from '../../store/types.js'
import {
  type Changes,
  moveOrder,
  noChanges,
  withEvent,
  writeChanges,
} from '../model/changes.js'
import { lastSecondOf } from '../model/endsOf.js'
import { isScheduled } from '../model/scheduled.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CancellationVerdict, OrdersContext } from '../model/types.js'
import { isRelaying } from '../submitter/rejectOrder.js'

export type CancelRefusal = Extract<
  CancellationVerdict,
  { ok: false }
>['reason']

export function refuseCancel(
  found: StoredOrder,
  reason: CancelRefusal,
): CancellationVerdict {
  return { ok: false, reason, order: showOrder(found) }
}

/**
 * Returns the reason why an order in this state accepts no cancellation, or
 * `undefined` if it does.
 */
export function findRefusal({
  order,
  attempt,
}: StoredOrder): CancelRefusal | undefined {
  // A charge of a subscription has no payment to cancel; the buyer revokes the
  // spend permission instead.
  if (isScheduled(order)) return 'notOpen'
  switch (order.state) {
    case 'captured':
    case 'canceled':
    case 'consumed':
      return 'consumed'
    case 'expired':
      return 'expired'
    case 'drafted':
      return 'notOpen'
    default:
      // A voided order without a payer was voided before the buyer signed, so
      // no signature can be canceled.
      return attempt.payer === undefined ? 'notOpen' : undefined
  }
}

/**
 * Stores a cancellation that was verified. The order's state and the policy
 * decide what happens next.
 */
export async function writeCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order, attempt } = found
  if (order.state === 'canceling') return accept(found)
  const isRelayed = await mayRelay(context, tables, found)
  await tables.attempts.update([attempt])
  if (order.state === 'capturing')
    return keepRequested(context, tables, found, isRelayed ? 'cancel' : 'void')
  return isRelayed || order.requested === 'cancel'
    ? relayCancel(context, tables, found)
    : setAside(context, tables, found)
}

/**
 * Stores the request to cancel or void. If the capture in flight fails, the
 * submitter carries the request out.
 */
export async function keepRequested(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  asked: 'cancel' | 'void',
): Promise<CancellationVerdict> {
  const { requested: before } = found.order
  // If we send buyers' cancellations, this one is sent after a void too, so
  // `void` need not be replaced.
  const isVoided = before === 'void' && isRelaying(context)
  const requested = isVoided || before === 'cancel' ? before : asked
  if (before === requested && wasKept(found))
    return refuseCancel(found, 'captureInFlight')
  const { order, event } = withEvent(
    found.order,
    {
      type: 'cancellationAccepted',
      at: context.now(),
      data: { relayed: asked === 'cancel' },
    },
    { requested },
  )
  const kept = await write(tables, found, order, [event])
  return refuseCancel(kept, 'captureInFlight')
}

/** True when the store already had a cancellation of this attempt. */
function wasKept({ order, attempts }: StoredOrder): boolean {
  const known = attempts.find(({ number }) => number === order.attempt)
  return known?.cancellation !== undefined
}

/**
 * Makes the submitter send the cancellation. Once its transaction is stored,
 * the order becomes `canceling`.
 */
export async function relayCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order } = found
  if (order.state === 'canceling' || order.requested === 'cancel')
    return accept(found)
  const changed = withEvent(
    order,
    {
      type: 'cancellationAccepted',
      at: context.now(),
      data: { relayed: true },
    },
    {
      requested: 'cancel',
      sendDue: 0n,
      needsReview: false,
      reason: undefined,
    },
  )
  return accept(await write(tables, found, changed.order, [changed.event]))
}

/**
 * Voids the order and stores the cancellation. We do not send it, but the buyer
 * may.
 */
async function setAside(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
): Promise<CancellationVerdict> {
  const { order, attempt } = found
  if (order.state === 'voided' && wasKept(found)) return accept(found)
  const at = context.now()
  const changed = withEvent(order, {
    type: 'cancellationAccepted',
    at,
    data: { relayed: false },
  })
  const moved =
    order.state === 'voided'
      ? undefined
      : moveOrder(
          changed.order,
          'voided',
          { type: 'voided', at, data: {} },
          {
            requested: undefined,
            sendDue: undefined,
            needsReview: false,
            lookDue: lastSecondOf(attempt),
          },
        )
  const events = moved ? [changed.event, moved.event] : [changed.event]
  const { order: last } = moved ?? changed
  return accept(await write(tables, found, last, events))
}

/** Writes the changed order. Returns it as written. */
async function write(
  tables: StoreWriter,
  found: StoredOrder,
  order: OrderRecord,
  events: Changes['events'],
): Promise<StoredOrder> {
  const [written = order] = await writeChanges(tables, {
    ...noChanges(),
    orders: [order],
    events,
  })
  return { ...found, order: written }
}

function accept(found: StoredOrder): CancellationVerdict {
  return { ok: true, order: showOrder(found) }
}

/** Most cancellations of one payer in a day that are sent without approval. */
const mostOfPayer = 3

/**
 * Seconds: orders that were drafted within this time count toward
 * `mostOfPayer`.
 */
const day = 86_400n

/**
 * Most orders to read for one payer; none has so many orders with
 * cancellations.
 */
const manyOrders = 200

/**
 * True if the policy sends this cancellation without approval. False once three
 * other orders of this payer, drafted within a day, are canceled or about to
 * be: each cancellation costs us gas, while the signature costs the payer
 * nothing.
 */
async function mayRelay(
  context: OrdersContext,
  tables: StoreWriter,
  { order, attempt }: StoredOrder,
): Promise<boolean> {
  if (!isRelaying(context)) return false
  const payer = attempt.payer ?? order.payer
  if (payer === undefined) return true
  // Take a lock, so that cancellations that arrive at the same time are counted
  // one after the other.
  await tables.lock(`relay:${order.chainId}:${payer}`)
  const listed = context.destinations.filter(
    ({ chainId }) => chainId === order.chainId,
  )
  const read = (
    states: readonly StoredOrder['order']['state'][],
    limit: number,
  ): ReturnType<StoreReader['orders']['find']> =>
    tables.orders.find({ listed, payer, states, limit })
  const canceled = await read(['canceling', 'canceled'], mostOfPayer)
  const waiting = await read(['stored', 'capturing', 'voided'], manyOrders)
  const since = context.now() / 1000n - day
  const counted = [
    ...canceled,
    ...waiting.filter(({ requested }) => requested === 'cancel'),
  ].filter(({ id, createdAt }) => id !== order.id && createdAt > since)
  return counted.length < mostOfPayer
}
