import { laneKey } from '../lanes/laneState.js'
import { collectFound } from '../ledger/collectFound.js'
import type { FoundOrder } from '../records/findOrder.js'
import type { OrdersContext } from '../records/types.js'
import type { Lane, OrderRecord } from '../store/types.js'

/** Those who wait for orders to be decided, asked about all together. */
export type OrderWaits = {
  /** Resolves to the decided order, or to nothing when the time is over. */
  wait(order: OrderRecord, timeout: number): Promise<FoundOrder | undefined>
  /** How many wait for orders of a lane. */
  count(lane: Lane): number
  /**
   * Tells those whose orders are decided by now.
   *
   * @param news.settled orders as they were just written.
   * @param news.isNews others were written; else a look now and then will do.
   */
  tell(
    lane: Lane,
    news: { settled: readonly FoundOrder[]; isNews: boolean },
  ): Promise<void>
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
    const known = lanes.get(key)
    if (known) return known
    const group = { waiters: new Set<Waiter>(), looked: -lookEvery }
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
    tell: async (lane, { settled, isNews }) => {
      const group = groupOf(lane)
      const decided = settled.filter(({ order }) => isDecided(order))
      tellOf(group.waiters, decided)
      const now = performance.now()
      if (group.waiters.size === 0) return
      if (!isNews && now - group.looked < lookEvery) return
      group.looked = now
      const waiting = [...group.waiters]
      const ids = waiting.map(({ orderId }) => orderId)
      tellOf(waiting, await findDecided(context, ids))
    },
    end: () => {
      for (const { waiters } of lanes.values())
        for (const { settle } of [...waiters]) settle(undefined)
    },
  }
}

function tellOf(
  waiters: Iterable<Waiter>,
  decided: readonly FoundOrder[],
): void {
  const found = new Map(decided.map((one) => [one.order.id, one]))
  for (const waiter of [...waiters]) {
    const one = found.get(waiter.orderId)
    if (one) waiter.settle(one)
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
): Promise<FoundOrder[]> {
  return store.read(async (tables) => {
    const orders = await tables.orders.find({ ids: [...new Set(ids)] })
    const decided = orders.filter(isDecided)
    const orderIds = decided.map(({ id }) => id)
    if (orderIds.length === 0) return []
    const attempts = await tables.attempts.find({ orderIds })
    const proofs = await tables.proofs.find({ orderIds })
    return collectFound({ orders: decided, attempts, proofs })
  })
}
