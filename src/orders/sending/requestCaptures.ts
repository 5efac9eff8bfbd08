import { addAll } from '../../core/addAll.js'
import { InvalidFieldError } from '../../core/errors.js'
import { gatherCalls } from '../../core/gatherCalls.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import { isWorthAlone } from '../../store/isWorthAlone.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import {
  atRiskLock,
  type EarlyLimits,
  reserveEarly,
} from '../account/reserveEarly.js'
import type { OrdersContext } from '../context/types.js'
import { apply, type RowInput, rulesOf } from '../model/apply.js'
import { noChanges, writeChanges } from '../model/changes.js'
import { OrderNotFoundError } from '../model/errors.js'
import { captureValueOf } from '../model/kindOf.js'
import { senderOf } from '../model/sendersOf.js'

/**
 * Stores the request to capture an order, in one write with other requests.
 * @param early limits for answering as soon as the pending block shows the
 * capture; absent if the caller waits for a block.
 */
export type CaptureRequest = (
  orderId: string,
  early?: EarlyLimits | undefined,
) => Promise<OrderRecord>

type Requested = { orderId: string; early: EarlyLimits | undefined }

/** Most requests in one database transaction. */
const most = 500

/**
 * Collects requests to capture, so that a thousand at once need only a few
 * writes.
 */
export function requestCaptures(context: OrdersContext): CaptureRequest {
  const request = gatherCalls<Requested, OrderRecord | undefined>({
    work: async (requests) => {
      const ids = [...new Set(requests.map(({ orderId }) => orderId))]
      const early = new Map(
        requests.flatMap(({ orderId, early }) =>
          early ? [[orderId, early]] : [],
        ),
      )
      const found = await writeAgain(context, (tables) =>
        writeCaptureRequests(context, tables, ids, { early }),
      )
      return requests.map(({ orderId }) => found.get(orderId))
    },
    choose: (waiting) => waiting.slice(0, most),
    atOnce: 1,
    waitsForTurn: true,
    isWorthAlone,
  })
  return async (orderId, early) => {
    const order = await request({ orderId, early })
    if (!order) throw new OrderNotFoundError({ orderId })
    if (captureValueOf(order) === undefined)
      throw new InvalidFieldError(
        'amount',
        undefined,
        'given for an order with a ceiling, and at most that ceiling',
      )
    return order
  }
}

/**
 * Requests captures as part of the caller's database transaction. Returns the
 * orders after that, by id. Leaves out orders that do not exist or belong to
 * other recipients.
 *
 * @param options.skipsReview true to skip orders that wait for the merchant's
 * review. Otherwise the request ends the review.
 * @param options.early limits for answers at `preconfirmed`, by order id. An
 * answer is reserved where the limits allow it.
 */
export async function writeCaptureRequests(
  context: OrdersContext,
  tables: StoreWriter,
  ids: readonly string[],
  {
    skipsReview = false,
    early = new Map(),
  }: {
    skipsReview?: boolean
    early?: ReadonlyMap<string, EarlyLimits>
  } = {},
): Promise<ReadonlyMap<string, OrderRecord>> {
  const rules = rulesOf(context)
  if (early.size > 0) await tables.lock(atRiskLock)
  const orders = new Map<string, OrderRecord>()
  const changes = noChanges()
  for (const order of await tables.orders.find({ ids })) {
    if (!isInDestinations(order, context.destinations)) continue
    orders.set(order.id, order)
    if (skipsReview && order.needsReview) continue
    const asked = apply({ order }, captureInput(context, order), rules)
    for (const row of asked.orders) orders.set(order.id, row)
    addAll(changes.orders, asked.orders)
    addAll(changes.events, asked.events)
  }
  const wanted = [...orders.values()].flatMap((order) => {
    const limits = early.get(order.id)
    return limits ? [{ order, limits }] : []
  })
  const reserved = await reserveEarly(context, tables, wanted)
  for (const [id, order] of reserved) {
    orders.set(id, order)
    const place = changes.orders.findIndex((one) => one.id === id)
    changes.orders.splice(place, place < 0 ? 0 : 1)
    changes.orders.push(order)
  }
  await writeChanges(tables, changes, rules.at)
  return orders
}

/** Asks for the capture of an order. */
export function captureInput(
  context: OrdersContext,
  order: OrderRecord,
): Extract<RowInput, { kind: 'requestCapture' }> {
  // If the order's wallet was removed, another wallet sends its capture.
  const submitter = senderOf(context, order)?.submitter.account
  return { kind: 'requestCapture', submitter }
}
