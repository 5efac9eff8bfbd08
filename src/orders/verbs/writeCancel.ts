import type { StoreReader, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { apply, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import type { CancelInput } from '../model/commands.js'
import { isRelaying } from '../model/rejectOrder.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CancellationVerdict } from '../model/types.js'

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
 * Stores a cancellation that was verified. The order's state and the policy
 * decide what happens next.
 */
export async function writeCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  cancellation: string,
): Promise<CancellationVerdict> {
  const isRelayed = await mayRelay(context, tables, found)
  return carryOut(context, tables, found, { isRelayed, cancellation })
}

/** Writes what becomes of an order that the buyer canceled. */
export async function carryOut(
  context: OrdersContext,
  tables: StoreWriter,
  found: StoredOrder,
  signed: CancelInput,
): Promise<CancellationVerdict> {
  const rules = rulesOf(context)
  const { refusal, ...changes } = apply(
    found,
    { kind: 'acceptCancellation', ...signed },
    rules,
  )
  const [order = found.order] = await writeChanges(tables, changes, rules.at)
  const shown = { ...found, order }
  return refusal
    ? refuseCancel(shown, refusal)
    : { ok: true, order: showOrder(shown) }
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
