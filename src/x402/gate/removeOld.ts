import { startLoop } from '../../core/loop.js'
import { waitIdly } from '../../core/wait.js'
import {
  type Instance,
  isRefundable,
  loadOrders,
  raiseRefund,
  withRefunds,
} from '../../orders/engine.js'
import type { OrderState } from '../../store/types.js'
import { exchangeOf, noteOf, orderIdOfKey } from './exchanges.js'
import { leaseKey } from './liveness.js'
import type { ExchangeNote, GateContext } from './types.js'

type Context = Pick<GateContext['context'], 'store' | 'now'>

/**
 * Milliseconds until an expired record is checked again if its payment was
 * still undecided on chain.
 */
const lookAgain = 86_400_000n

/**
 * Milliseconds until the next removal: usually, and while more records are
 * expired.
 */
const removeEvery = 60_000
const removeSoon = 1000

/** Most records to remove at once. */
const most = 100

/**
 * For each `orders` object, when its cleaning loop last looked, in milliseconds
 * of `performance.now()`.
 */
const cleaning = new WeakMap<Instance, { lookedAt: number }>()

/**
 * Removes expired records of payments once a minute until the orders are
 * closed. Does nothing if a loop for these orders runs already; some runtimes
 * stop timers with the request that started them, so a loop that has not looked
 * for two minutes is replaced. Does not keep the process alive.
 *
 * Several processes may do this at the same time: only one of them ends a given
 * record.
 */
export function startCleaning({
  context,
  instance,
}: {
  context: Context
  instance: Instance
}): void {
  const before = cleaning.get(instance)
  const now = performance.now()
  if (before && now - before.lookedAt < 2 * removeEvery) return
  const own = { lookedAt: now }
  cleaning.set(instance, own)
  const look = async () => {
    own.lookedAt = performance.now()
    const isMore = await instance.hold(removeOld(context))
    return isMore ? removeSoon : removeEvery
  }
  // After a failure, the next removal removes the same records.
  const failed = () => removeEvery
  const isOver = () => cleaning.get(instance) !== own
  startLoop({ look, failed, isOver, sleep: waitIdly }, instance.closing)
}

/** States of orders whose payment may still be captured on chain. */
const undecided: readonly OrderState[] = ['stored', 'capturing', 'canceling']

/**
 * Removes at most a hundred expired records of all gates and facilitators on
 * this database. First ends payments whose client never came back: if such a
 * payment was captured, it raises the event `refundDue`.
 *
 * @returns true when more records may be expired.
 */
export async function removeOld(context: Context): Promise<boolean> {
  const over = context.now()
  const found = await context.store.read(({ notes }) =>
    notes.find({ over, limit: most }),
  )
  const open = new Set<string>()
  let done = 0
  for (const note of found) {
    const orderId = orderIdOfKey(note.key)
    const exchange = orderId === undefined ? undefined : exchangeOf(note)
    const isOver = ['done', 'over'].includes(exchange?.data.step ?? 'over')
    if (orderId === undefined || !exchange || isOver) continue
    open.add(note.key)
    // A failure needs no handling: either another process changed the record
    // first, or a later removal tries again.
    const ended = endAbandoned(context, exchange, orderId)
    if (await ended.catch(() => false)) done++
  }
  const keys = found.flatMap(({ key }) => (open.has(key) ? [] : [key]))
  if (keys.length > 0)
    await context.store.write(({ notes }) => notes.remove(keys))
  return found.length === most && done + keys.length > 0
}

/**
 * Ends the record, or checks it again later. Returns `false` while a gate works
 * on the payment.
 */
async function endAbandoned(
  context: Context,
  note: ExchangeNote,
  orderId: string,
): Promise<boolean> {
  // A gate is still processing this payment. A change of the record would
  // change its version, and the gate could not store the answer.
  if (await isWorking(context, note)) return false
  await context.store.write(async (tables) => {
    const found = await loadOrders(tables, { ids: [orderId] })
    const stored = (await withRefunds(tables, found)).get(orderId)
    const isLater = stored && undecided.includes(stored.order.state)
    const next: ExchangeNote = isLater
      ? { ...note, until: context.now() + lookAgain }
      : { ...note, data: { ...note.data, step: 'over' } }
    await tables.notes.update([{ ...noteOf(next), version: note.version }])
    if (isLater || stored?.order.state !== 'captured') return
    const payer = stored.attempt.payer ?? stored.order.payer
    // `unexpected` means: the order was voided before its capture came. The
    // event `refundDue` has been raised already.
    if (stored.order.unexpected || !isRefundable(stored) || !payer) return
    await raiseRefund(context, tables, stored, { payer, reason: 'abandoned' })
  })
  return true
}

/** True while the handler runs in a gate that is alive. */
async function isWorking(
  { store }: Context,
  { data: { step, owner } }: ExchangeNote,
): Promise<boolean> {
  if (step !== 'working') return false
  const held = await store.read(({ getLease }) => getLease(leaseKey(owner)))
  return held?.owner === owner
}
