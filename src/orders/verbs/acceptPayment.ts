import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parsePayment } from '../../core/fields.js'
import type { Payment, SignedPayment } from '../../core/types.js'
import { decodePayment } from '../../payments/message/codec.js'
import { writeAgain } from '../../store/writeAgain.js'
import { loadOrder } from '../model/loadOrders.js'
import { parseOrderId } from '../model/parseOrderId.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict, OrdersContext } from '../model/types.js'
import { checkAccept } from './checkAccept.js'
import { judgeAccept } from './judgeAccept.js'
import { storeAccepted } from './storeAccepted.js'

/** What `accept` takes. */
export type AcceptPaymentParameters = {
  orderId: string
  /** As it came: JSON text, its parsed value, or a `SignedPayment`. */
  payment: unknown
}

const members: MembersOf<AcceptPaymentParameters> = {
  orderId: true,
  payment: true,
}

/** Refusals that say nothing about the payment, or come from our side. */
const ownTrouble: readonly string[] = [
  'submitterFunds',
  'noWallet',
  'acceptInFlight',
]

/** `accept` of `DestinationOrders`, one payment of an order at a time. */
export async function acceptPayment(
  context: OrdersContext,
  parameters: AcceptPaymentParameters,
): Promise<AcceptVerdict> {
  checkMembers(parameters, members)
  const orderId = parseOrderId(parameters.orderId)
  const payment = parseSignedPayment(parameters.payment)
  const found = await context.store.read((tables) =>
    loadOrder(tables, context, orderId),
  )
  const known = await checkRecord(context, found, payment)
  if (known) return known

  const lease = await context.store.takeLease({
    key: `accept:${orderId}`,
    // Not the instance: two accepts of one process exclude each other too.
    owner: drawNonce(),
    // A buyer must not wait long for a process that died.
    milliseconds: context.policy.lease,
  })
  if (!lease) return { ok: false, reason: 'acceptInFlight', details: {} }
  try {
    return await acceptAlone(context, found, payment)
  } finally {
    // Nothing is written under it: one that is not given back runs out.
    await context.store.releaseLease(lease).catch(() => undefined)
  }
}

/** Judges a payment by the chain and keeps it, while no other accept runs. */
async function acceptAlone(
  context: OrdersContext,
  before: StoredOrder,
  payment: SignedPayment,
): Promise<AcceptVerdict> {
  const found = await refresh(context, before)
  // The accept that held the lease before may have changed the order.
  const known =
    found === before ? undefined : await checkRecord(context, found, payment)
  if (known) return known

  const judged = await judgeAccept(context, found.order, payment)
  if (!judged.ok) {
    if (!ownTrouble.includes(judged.reason))
      await countTry(context, found.order.id)
    return judged
  }
  const verdict = await storeAccepted(context, {
    found,
    payment,
    judged,
  }).catch((error: unknown) => {
    judged.release()
    throw error
  })
  if (!verdict.ok) {
    judged.release()
    await countTry(context, found.order.id)
  }
  return verdict
}

/** The order as it is now; the same value while nobody changed it. */
function refresh(
  context: OrdersContext,
  before: StoredOrder,
): Promise<StoredOrder> {
  const { id, version } = before.order
  return context.store.read(async (tables) => {
    const [order] = await tables.orders.find({ ids: [id] })
    return order?.version === version ? before : loadOrder(tables, context, id)
  })
}

/** The verdict that the record alone gives; counts a refusal as a try. */
async function checkRecord(
  context: OrdersContext,
  found: StoredOrder,
  payment: SignedPayment,
): Promise<AcceptVerdict | undefined> {
  const check = checkAccept(found, payment)
  if (check.verdict && check.isTry) await countTry(context, found.order.id)
  return check.verdict
}

async function countTry(
  context: OrdersContext,
  orderId: string,
): Promise<void> {
  await writeAgain(context, async (tables) => {
    const { order } = await loadOrder(tables, context, orderId)
    await tables.orders.update([{ ...order, tries: order.tries + 1 }])
  })
}

/** Takes JSON text, its parsed value, or the object `signPayment` gives. */
function parseSignedPayment(given: unknown): SignedPayment {
  const { value } = Object(Object(given).message)
  // JSON has no such integers: only an object of this process can.
  const payment =
    typeof value === 'bigint' ? parsePayment(given) : decodePayment(given)
  if (isSigned(payment)) return payment
  throw new InvalidFieldError('payment.signature', undefined, 'a signature')
}

function isSigned(payment: Payment | SignedPayment): payment is SignedPayment {
  return 'signature' in payment
}
