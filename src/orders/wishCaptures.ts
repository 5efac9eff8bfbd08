import type { OrderRecord } from '../store/types.js'
import { tellOrder, writeChanges } from './changes.js'
import { OrderNotFoundError } from './errors.js'
import { type FoundOrder, isInScopes } from './findOrder.js'
import { openLedger, readRows } from './openLedger.js'
import type { OrdersContext } from './types.js'
import { collectFound } from './waitForOrders.js'
import { writeAgain } from './writeAgain.js'

/** Writes down that an order is to be captured, with the others of this tick. */
export type WishCapture = (orderId: string) => Promise<FoundOrder>

type Wish = {
  orderId: string
  settle(found: FoundOrder): void
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
  const rows = await writeAgain(context, async (tables) => {
    const read = await readRows(tables, ids)
    const own = read.orders.filter((order) => isInScopes(context, order))
    const ledger = openLedger(read)
    for (const order of own) {
      if (!isToBeAsked(order)) continue
      const told = tellOrder(
        order,
        { type: 'captureRequested', at },
        { wish: 'capture', sendDue: 0n, held: false, reason: undefined },
      )
      ledger.add({ orders: [told.order], events: [told.event] })
    }
    await writeChanges(tables, ledger.close())
    const orders = own.flatMap(({ id }) => ledger.fileOf(id)?.order ?? [])
    return { ...read, orders }
  })
  const found = new Map(collectFound(rows).map((one) => [one.order.id, one]))
  for (const { orderId, settle, fail } of wishes) {
    const one = found.get(orderId)
    if (one) settle(one)
    else fail(new OrderNotFoundError({ orderId }))
  }
}

/** Not while it is under way, nor when the buyer's cancellation is. */
function isToBeAsked({ state, wish, held, sendDue }: OrderRecord): boolean {
  const isAsked = wish === 'capture' && !held && sendDue !== undefined
  return state === 'stored' && wish !== 'cancel' && !isAsked
}
