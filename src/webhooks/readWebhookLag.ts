import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import type { OrderEvent, OrderEventType } from '../orders/model/types.js'
import type { Orders } from '../orders/Orders.js'
import type { PaymentStore } from '../store/types.js'
import { loadProgress, type Progress } from './progress.js'
import { parseTargetName } from './targets/parseTargetName.js'

/** What {@link readWebhookLag} takes. */
export type ReadWebhookLagParameters = {
  /** The one the orders are kept in. */
  store: PaymentStore
  /** The name of the target. */
  target: string
}

const members: MembersOf<ReadWebhookLagParameters> = {
  store: true,
  target: true,
}

/** How far a target is, and how far there is to go. */
export type WebhookLag = {
  /** Everything up to there is delivered, or left out. */
  cursor: bigint
  /** The cursor of the newest event. */
  newest: bigint
  /**
   * When the first event happened that is neither, in Unix milliseconds; absent
   * where there is none.
   */
  waitingSince: bigint | undefined
  /**
   * Orders that wait because the receiver refuses one of their events, while
   * later events of others are delivered; events without an order likewise. The
   * oldest first, at most 20.
   */
  putAside: readonly PutAsideEvent[]
  /** How many there are, including those that `putAside` does not list. */
  putAsideCount: number
}

/** The first undelivered event of an order. */
export type PutAsideEvent = {
  /** Absent where the event concerns no order. */
  orderId: string | undefined
  type: OrderEventType
  cursor: bigint
  /** When the event happened, in Unix milliseconds. */
  since: bigint
}

const mostNamed = 20

/**
 * Reads how far a target of webhooks is behind, in any process that has the
 * store; sends nothing.
 *
 * Tells of what is on record: a delivery of this moment may not be yet, and what
 * the target's `types` leave out counts until it was passed.
 *
 * @throws {@link WebhookTargetError} when no target can have this name.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import type { PaymentStore } from 'countersign/store'
 * import { readWebhookLag } from 'countersign/webhooks'
 *
 * export async function secondsBehind(orders: Orders, store: PaymentStore) {
 *   const target = 'warehouse'
 *   const { waitingSince } = await readWebhookLag(orders, { store, target })
 *   return waitingSince ? (Date.now() - Number(waitingSince)) / 1000 : 0
 * }
 * ```
 */
export async function readWebhookLag(
  orders: Pick<Orders, 'events'>,
  parameters: ReadWebhookLagParameters,
): Promise<WebhookLag> {
  checkMembers(parameters, members)
  const { store, target }: ReadWebhookLagParameters = Object(parameters)
  const name = parseTargetName(target, 'target')
  await store.open()
  // Before the rest: what comes in between must not count as delivered.
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

/** What is open may be of other orders than these, which nobody here sees. */
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

/** The first event from a cursor on. */
async function findFirst(
  orders: Pick<Orders, 'events'>,
  cursor: bigint,
): Promise<OrderEvent | undefined> {
  const { events } = await orders.events({ after: cursor - 1n, limit: 1 })
  return events[0]
}
