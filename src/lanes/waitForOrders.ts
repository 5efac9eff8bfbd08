import type { FoundOrder } from '../ledger/findOrder.js'
import { type OrderRows, openLedger } from '../ledger/openLedger.js'
import type { OrdersContext } from '../ledger/types.js'
import type { Lane, OrderRecord } from '../store/types.js'
import { laneKey } from './laneState.js'

/** Those who wait for orders to be decided, asked about all together. */
export type OrderWaits = {
  /** Resolves to the decided order, or to nothing when the time is over. */
  wait(order: OrderRecord, timeout: number): Promise<FoundOrder | undefined>
  /** How many wait for orders of a lane. */
  count(lane: Lane): number
  /**
   * Tells those whose orders are decided by now.
   *
   * @param isNews something was written; else a look now and then will do.
   */
  tell(lane: Lane, isNews: boolean): Promise<void>
  /** Gives up on all of them. */
  end(): void
}

type Waiter = { orderId: string; settle(found: FoundOrder | undefined): void }

/** Milliseconds between two looks for what other processes wrote. */
const lookEvery = 250

export function waitForOrders(context: OrdersContext): OrderWaits {
  const lanes = new Map<string, { waiters: Set<Waiter>; looked: number }>()
  const groupOf = (lane: Lane) => {
    const key = laneKey(lane)
    const group = lanes.get(key) ?? { waiters: new Set<Waiter>(), looked: 0 }
    lanes.set(key, group)
    return group
  }
  return {
    wait: (order, timeout) => {
      const { chainId, lane: account } = order
      const { waiters } = groupOf({ chainId, account })
      return new Promise((resolve) => {
        const settle = (found: FoundOrder | undefined) => {
          clearTimeout(timer)
          waiters.delete(waiter)
          resolve(found)
        }
        const waiter = { orderId: order.id, settle }
        const timer = setTimeout(() => settle(undefined), timeout)
        waiters.add(waiter)
      })
    },
    count: (lane) => lanes.get(laneKey(lane))?.waiters.size ?? 0,
    tell: async (lane, isNews) => {
      const group = groupOf(lane)
      const now = Date.now()
      if (group.waiters.size === 0) return
      if (!isNews && now - group.looked < lookEvery) return
      group.looked = now
      const waiting = [...group.waiters]
      const found = await findDecided(
        context,
        waiting.map(({ orderId }) => orderId),
      )
      for (const waiter of waiting) {
        const one = found.get(waiter.orderId)
        if (one) waiter.settle(one)
      }
    },
    end: () => {
      for (const { waiters } of lanes.values())
        for (const { settle } of [...waiters]) settle(undefined)
    },
  }
}

/** Whether nothing of a capture that was asked for is left to wait for. Pure. */
export function isDecided({ state, wish }: OrderRecord): boolean {
  if (state === 'capturing' || state === 'canceling') return false
  return state !== 'stored' || wish === undefined || wish === 'void'
}

async function findDecided(
  { store }: OrdersContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundOrder>> {
  return store.read(async (tables) => {
    const orders = await tables.orders.find({ ids: [...new Set(ids)] })
    const decided = orders.filter(isDecided)
    const orderIds = decided.map(({ id }) => id)
    if (orderIds.length === 0) return new Map()
    const attempts = await tables.attempts.find({ orderIds })
    const proofs = await tables.proofs.find({ orderIds })
    const found = collectFound({ orders: decided, attempts, proofs })
    return new Map(found.map((one) => [one.order.id, one]))
  })
}

/** Orders with what is on record beside them, from rows of many. Pure. */
function collectFound(rows: OrderRows): FoundOrder[] {
  const ledger = openLedger(rows)
  const attempts = new Map<string, FoundOrder['attempts'][number][]>()
  for (const row of rows.attempts)
    attempts.set(row.orderId, [...(attempts.get(row.orderId) ?? []), row])
  return rows.orders.flatMap(({ id }) => {
    const file = ledger.fileOf(id)
    return file ? [{ ...file, attempts: attempts.get(id) ?? [] }] : []
  })
}
