import type { OrderRecord, Submitter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import type { AnswerAt } from '../model/earlyAnswer.js'
import { loadOrders } from '../model/loadOrders.js'
import type { StoredOrder } from '../model/storedOrder.js'
import { submitterKey } from './submitterState.js'

/**
 * Callers that wait until their orders are decided, which means that no
 * requested capture is pending. One read of the store serves all callers.
 */
export type OrderWaits = {
  /**
   * Resolves to the decided order, or to `undefined` after the timeout (ms).
   * @param answerAt `preconfirmed` to resolve as soon as the pending block
   * shows the capture, for orders that may be answered early.
   */
  wait(
    order: OrderRecord,
    timeout: number,
    answerAt?: AnswerAt | undefined,
  ): Promise<StoredOrder | undefined>
  count(submitter: Submitter): number
  /**
   * Answers the callers whose orders are decided.
   *
   * @param news.settled orders as they were just written.
   * @param news.isNews true when other orders were written too: then the store
   * is read at once.
   */
  report(
    submitter: Submitter,
    news: { settled: readonly StoredOrder[]; isNews: boolean },
  ): Promise<void>
  end(): void
}

type Waiter = {
  orderId: string
  answerAt: AnswerAt
  settle(found: StoredOrder | undefined): void
}

/**
 * Milliseconds between two reads of orders that other processes may have
 * written.
 */
const lookEvery = 250

/**
 * Milliseconds between two reads of awaited orders, independent of this
 * process's submitter: its node may hang while another process captures the
 * order.
 */
const ownLookEvery = 1_000

/** Milliseconds after which a read that got no answer is repeated. */
const longestLook = 10_000

type Group = {
  waiters: Set<Waiter>
  /**
   * When the last finished read and the current read began, as milliseconds of
   * `performance.now()`.
   */
  looked: number
  looking: number | undefined
  timer: ReturnType<typeof setInterval> | undefined
}

export function waitForOrders(context: OrdersContext): OrderWaits {
  const groups = new Map<string, Group>()
  const groupOf = (submitter: Submitter): Group => {
    const key = submitterKey(submitter)
    const group = groups.get(key) ?? createGroup()
    groups.set(key, group)
    return group
  }
  return {
    wait: (order, timeout, answerAt = 'included') => {
      const { chainId, submitter: account } = order
      const group = groupOf({ chainId, account })
      return new Promise((resolve) => {
        const settle = (found: StoredOrder | undefined) => {
          clearTimeout(timer)
          leave(group, waiter)
          resolve(found)
        }
        const waiter: Waiter = { orderId: order.id, answerAt, settle }
        const timer = setTimeout(() => settle(undefined), timeout)
        group.waiters.add(waiter)
        keepLooking(context, group)
      })
    },
    count: (submitter) =>
      groups.get(submitterKey(submitter))?.waiters.size ?? 0,
    report: async (submitter, { settled, isNews }) => {
      const group = groupOf(submitter)
      reportTo(group.waiters, settled)
      const now = performance.now()
      if (group.waiters.size === 0) return
      if (!isNews && now - group.looked < lookEvery) return
      await look(context, group)
    },
    end: () => {
      for (const { waiters } of groups.values())
        for (const { settle } of [...waiters]) settle(undefined)
    },
  }
}

function createGroup(): Group {
  return {
    waiters: new Set(),
    looked: -lookEvery,
    looking: undefined,
    timer: undefined,
  }
}

async function look(context: OrdersContext, group: Group): Promise<void> {
  const begun = performance.now()
  group.looked = begun
  group.looking = begun
  const waiting = [...group.waiters]
  const ids = waiting.map(({ orderId }) => orderId)
  try {
    reportTo(waiting, await findAnswerable(context, ids))
  } finally {
    if (group.looking === begun) group.looking = undefined
  }
}

function keepLooking(context: OrdersContext, group: Group): void {
  if (group.timer !== undefined) return
  group.timer = setInterval(() => {
    const { looked, looking = -longestLook } = group
    const now = performance.now()
    if (now - looked < lookEvery || now - looking < longestLook) return
    // Ignore a failure of the store, because the next read tries again.
    look(context, group).catch(() => undefined)
  }, ownLookEvery)
}

function leave(group: Group, waiter: Waiter): void {
  group.waiters.delete(waiter)
  if (group.waiters.size > 0) return
  clearInterval(group.timer)
  group.timer = undefined
}

function reportTo(
  waiters: Iterable<Waiter>,
  orders: readonly StoredOrder[],
): void {
  const found = new Map(orders.map((one) => [one.order.id, one]))
  for (const waiter of [...waiters]) {
    const one = found.get(waiter.orderId)
    if (one && isAnswerable(one.order, waiter.answerAt)) waiter.settle(one)
  }
}

/** True when a caller that waits for `answerAt` can get an answer. */
export function isAnswerable(order: OrderRecord, answerAt: AnswerAt): boolean {
  return (
    isDecided(order) || (answerAt === 'preconfirmed' && isPreconfirmed(order))
  )
}

/**
 * True when the pending block shows the capture and the order may be answered
 * early.
 */
export function isPreconfirmed({
  state,
  early,
  finality,
}: OrderRecord): boolean {
  const isEarly = early === 'answered' || early === 'working'
  return state === 'capturing' && finality === 'preconfirmed' && isEarly
}

/** True when no requested capture is pending. */
export function isDecided({ state, requested }: OrderRecord): boolean {
  if (state === 'capturing' || state === 'canceling') return false
  return state !== 'stored' || requested === undefined || requested === 'void'
}

async function findAnswerable(
  { store }: OrdersContext,
  ids: readonly string[],
): Promise<StoredOrder[]> {
  return store.read(async (tables) => {
    const found = await loadOrders(
      tables,
      { ids: [...new Set(ids)] },
      (order) => isAnswerable(order, 'preconfirmed'),
    )
    return [...found.values()]
  })
}
