import { checkMembers } from '../core/checkMembers.js'
import type { OrderEvent, OrderEventType, Orders } from '../orders/index.js'
import type { PaymentStore } from '../store/types.js'
import {
  type LastFailure,
  loadFailure,
  loadProgress,
  type Progress,
} from './progress.js'
import { parseTargetName } from './targets/parseTargetName.js'

/** Parameters of {@link getWebhookLag}. */
export type GetWebhookLagParameters = {
  /** The store that the orders and `runWebhooks` use. */
  store: PaymentStore
  /** `name` of the target in `runWebhooks`. */
  target: string
}

/** How far the deliveries to a target are behind the newest event. */
export type WebhookLag = {
  /** Every event up to this cursor was delivered or skipped. */
  cursor: bigint
  /** The cursor of the newest event. */
  newest: bigint
  /**
   * When the first undelivered event happened, in Unix milliseconds. Absent if
   * all are delivered.
   */
  waitingSince: bigint | undefined
  /**
   * Orders whose first undelivered event the receiver refuses, while events of
   * other orders are delivered. Also contains refused events without an order.
   * Oldest first, at most 20.
   */
  putAside: readonly PutAsideEvent[]
  /** Number of such orders, including those beyond the 20 in `putAside`. */
  putAsideCount: number
  /**
   * The last delivery that failed: when, why, and the receiver's HTTP status.
   * Absent if none failed. Stays when later deliveries succeed.
   */
  lastFailure?: LastFailure | undefined
}

/**
 * The first undelivered event of an order. The later events of the order wait
 * for it.
 */
type PutAsideEvent = {
  /** Absent if the event concerns no order. */
  orderId: string | undefined
  type: OrderEventType
  cursor: bigint
  /** When the event happened, in Unix milliseconds. */
  since: bigint
}

const mostNamed = 20

/**
 * Returns how far the deliveries to a webhook target are behind. Works in any
 * process that has the store, and sends nothing.
 *
 * Reads the saved progress, which is a little older than the deliveries. Events
 * whose type the target does not take count as waiting until the deliveries
 * skip them.
 *
 * @throws {@link WebhookTargetError} when `target` is not a valid name.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import type { PaymentStore } from 'countersign/store'
 * import { getWebhookLag } from 'countersign/webhooks'
 *
 * export async function secondsBehind(orders: Orders, store: PaymentStore) {
 *   const target = 'warehouse'
 *   const { waitingSince } = await getWebhookLag(orders, { store, target })
 *   return waitingSince ? (Date.now() - Number(waitingSince)) / 1000 : 0
 * }
 * ```
 */
export async function getWebhookLag(
  orders: Pick<Orders, 'events'>,
  parameters: GetWebhookLagParameters,
): Promise<WebhookLag> {
  checkMembers(parameters, ['store', 'target'])
  const { store, target }: GetWebhookLagParameters = Object(parameters)
  const name = parseTargetName(target, 'target')
  await store.open()
  // Loads the newest cursor before the progress. In the other order, an event
  // that arrives in between could count as delivered.
  const { cursor: newest } = await orders.events({ after: 'latest' })
  const progress = await loadProgress({ store, target: { name } })
  const first = await findWaiting(orders, progress)
  const cursor = first ? first.cursor - 1n : newest
  const open = progress?.open ?? []
  return {
    cursor,
    newest,
    waitingSince: first?.at,
    putAside: await findPutAside(orders, open),
    putAsideCount: open.length,
    lastFailure: await loadFailure({ store, target: { name } }),
  }
}

async function findPutAside(
  orders: Pick<Orders, 'events'>,
  open: readonly bigint[],
): Promise<PutAsideEvent[]> {
  const found: PutAsideEvent[] = []
  for (const cursor of open.slice(0, mostNamed)) {
    const event = await findFirst(orders, cursor)
    if (event?.cursor !== cursor) continue
    const { orderId, type, at } = event
    found.push({ orderId, type, cursor, since: at })
  }
  return found
}

/**
 * Finds the first undelivered event. Events of other shops in the same database
 * are not visible through these orders, and are skipped.
 */
async function findWaiting(
  orders: Pick<Orders, 'events'>,
  { read, open }: Progress = { read: 0n, open: [] },
): Promise<OrderEvent | undefined> {
  for (const cursor of [...open, read + 1n]) {
    const event = await findFirst(orders, cursor)
    if (event && (event.cursor > read || open.includes(event.cursor)))
      return event
  }
  return undefined
}

/** Finds the first event at or after a cursor. */
async function findFirst(
  orders: Pick<Orders, 'events'>,
  cursor: bigint,
): Promise<OrderEvent | undefined> {
  const { events } = await orders.events({ after: cursor - 1n, limit: 1 })
  return events[0]
}
