import { InvalidFieldError } from '../../core/errors.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { OrderRecord, StoreWriter } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { noChanges, withEvent, writeChanges } from '../model/changes.js'
import { OrderNotFoundError } from '../model/errors.js'
import { captureValueOf } from '../model/kindOf.js'
import { senderOf } from '../model/sendersOf.js'
import type { OrdersContext } from '../model/types.js'

/** Writes the request to capture an order, together with other requests. */
export type CaptureRequest = (orderId: string) => Promise<OrderRecord>

type Requested = {
  orderId: string
  settle(order: OrderRecord): void
  fail(error: unknown): void
}

/** Most requests in one unit of work. */
const most = 500

/** Collects requests, so that a thousand at once need only a few writes. */
export function requestCaptures(context: OrdersContext): CaptureRequest {
  let queue: Requested[] = []
  let isWriting = false
  const flush = async (): Promise<void> => {
    isWriting = true
    while (queue.length > 0) {
      const requests = queue.slice(0, most)
      queue = queue.slice(most)
      await writeRequests(context, requests).catch((error: unknown) => {
        for (const { fail } of requests) fail(error)
      })
    }
    isWriting = false
  }
  return (orderId) =>
    new Promise((settle, fail) => {
      queue.push({ orderId, settle, fail })
      if (queue.length === 1 && !isWriting) setTimeout(flush, 0)
    })
}

async function writeRequests(
  context: OrdersContext,
  requests: readonly Requested[],
): Promise<void> {
  const ids = [...new Set(requests.map(({ orderId }) => orderId))]
  const found = await writeAgain(context, (tables) =>
    writeCaptureRequests(context, tables, ids),
  )
  for (const { orderId, settle, fail } of requests) {
    const order = found.get(orderId)
    if (!order) fail(new OrderNotFoundError({ orderId }))
    else if (captureValueOf(order) === undefined)
      fail(new InvalidFieldError('amount', undefined, 'given, up to a ceiling'))
    else settle(order)
  }
}

/**
 * Requests captures in the caller's unit of work. Returns the orders as they
 * are then, by id; without those that do not exist or are not of this instance.
 *
 * @param options.skipsReview true to leave orders alone that wait for the
 * merchant's review. Otherwise the request ends the review.
 */
export async function writeCaptureRequests(
  context: OrdersContext,
  tables: StoreWriter,
  ids: readonly string[],
  { skipsReview = false }: { skipsReview?: boolean } = {},
): Promise<ReadonlyMap<string, OrderRecord>> {
  const at = context.now()
  const orders = new Map<string, OrderRecord>()
  const changes = noChanges()
  for (const order of await tables.orders.find({ ids })) {
    if (!isInDestinations(order, context.destinations)) continue
    orders.set(order.id, order)
    if (!isToBeAsked(order) || (skipsReview && order.needsReview)) continue
    const asked = withEvent(
      order,
      {
        type: 'captureRequested',
        at,
        data:
          order.captureValue === undefined
            ? {}
            : { value: String(order.captureValue) },
      },
      {
        requested: 'capture',
        sendDue: 0n,
        needsReview: false,
        reason: undefined,
        // If its wallet was removed, another one sends it.
        submitter:
          senderOf(context, order)?.submitter.account ?? order.submitter,
      },
    )
    orders.set(order.id, asked.order)
    changes.orders.push(asked.order)
    changes.events.push(asked.event)
  }
  await writeChanges(tables, changes)
  return orders
}

/**
 * False while a capture or cancellation is in flight, or is already requested,
 * and while the amount is not known.
 */
function isToBeAsked(order: OrderRecord): boolean {
  const { state, requested, needsReview, sendDue } = order
  const { subscriptionId, chargeId } = order
  // It holds a permission, whose charges are orders of their own.
  if (subscriptionId !== undefined && chargeId === undefined) return false
  if (captureValueOf(order) === undefined) return false
  const isAsked =
    requested === 'capture' && !needsReview && sendDue !== undefined
  return state === 'stored' && requested !== 'cancel' && !isAsked
}
