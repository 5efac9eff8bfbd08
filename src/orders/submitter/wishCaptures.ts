import type { OrderRecord } from '../../store/types.js'
import { noChanges, tellOrder, writeChanges } from '../model/changes.js'
import { OrderNotFoundError } from '../model/errors.js'
import { isInScopes } from '../model/findOrder.js'
import { senderOf } from '../model/sendersOf.js'
import type { OrdersContext } from '../model/types.js'
import { writeAgain } from '../model/writeAgain.js'

/** Writes down that an order is to be captured, with the others of this tick. */
export type WishCapture = (orderId: string) => Promise<OrderRecord>

type Wish = {
  orderId: string
  settle(order: OrderRecord): void
  fail(error: unknown): void
}

/** Most wishes of one unit of work. */
const most = 500

/** Collects wishes, so that a thousand at once take a few writes. */
export function wishCaptures(context: OrdersContext): WishCapture {
  let queue: Wish[] = []
  let isWriting = false
  const flush = async (): Promise<void> => {
    isWriting = true
    while (queue.length > 0) {
      const wishes = queue.slice(0, most)
      queue = queue.slice(most)
      await writeWishes(context, wishes).catch((error: unknown) => {
        for (const { fail } of wishes) fail(error)
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

async function writeWishes(
  context: OrdersContext,
  wishes: readonly Wish[],
): Promise<void> {
  const ids = [...new Set(wishes.map(({ orderId }) => orderId))]
  const at = context.now()
  const found = await writeAgain(context, async (tables) => {
    const orders = new Map<string, OrderRecord>()
    const changes = noChanges()
    for (const order of await tables.orders.find({ ids })) {
      if (!isInScopes(context, order)) continue
      orders.set(order.id, order)
      if (!isToBeAsked(order)) continue
      const told = tellOrder(
        order,
        { type: 'captureRequested', at },
        {
          wish: 'capture',
          sendDue: 0n,
          held: false,
          reason: undefined,
          // If its wallet was removed, another one sends it.
          lane: senderOf(context, order)?.lane.account ?? order.lane,
        },
      )
      orders.set(order.id, told.order)
      changes.orders.push(told.order)
      changes.events.push(told.event)
    }
    await writeChanges(tables, changes)
    return orders
  })
  for (const { orderId, settle, fail } of wishes) {
    const order = found.get(orderId)
    if (order) settle(order)
    else fail(new OrderNotFoundError({ orderId }))
  }
}

/** Not while it is under way, nor when the buyer's cancellation is. */
function isToBeAsked({ state, wish, held, sendDue }: OrderRecord): boolean {
  const isAsked = wish === 'capture' && !held && sendDue !== undefined
  return state === 'stored' && wish !== 'cancel' && !isAsked
}
