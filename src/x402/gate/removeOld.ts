import {
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

/** States of orders whose payment may still be captured on chain. */
const undecided: readonly OrderState[] = ['stored', 'capturing', 'canceling']

/**
 * Removes at most a hundred expired records of all gates and facilitators on
 * this database. First ends payments whose client never came back: if such a
 * payment was captured, it raises the event `refundDue`.
 */
export async function removeOld(context: Context): Promise<void> {
  const over = context.now()
  const found = await context.store.read(({ notes }) =>
    notes.find({ over, limit: 100 }),
  )
  const open = new Set<string>()
  for (const note of found) {
    const orderId = orderIdOfKey(note.key)
    const exchange = orderId === undefined ? undefined : exchangeOf(note)
    const isOver = ['done', 'over'].includes(exchange?.data.step ?? 'over')
    if (orderId === undefined || !exchange || isOver) continue
    open.add(note.key)
    // A failure needs no handling: either another process changed the record
    // first, or a later removal tries again.
    await endAbandoned(context, exchange, orderId).catch(() => undefined)
  }
  const keys = found.flatMap(({ key }) => (open.has(key) ? [] : [key]))
  if (keys.length === 0) return
  await context.store.write(({ notes }) => notes.remove(keys))
}

async function endAbandoned(
  context: Context,
  note: ExchangeNote,
  orderId: string,
): Promise<void> {
  // A gate is still processing this payment. A change of the record would
  // change its version, and the gate could not store the answer.
  if (await isWorking(context, note)) return
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
