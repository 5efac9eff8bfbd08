import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { invalidSignature } from '../../core/errors.js'
import { parseOrderId } from '../../core/parseOrderId.js'
import type { AnyPayment, AnySignedPayment } from '../../core/types.js'
import type { PaymentKind } from '../../payments/kind.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'
import { signedKindOf } from '../model/kindOf.js'
import { loadOrder } from '../model/loadOrders.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict } from '../model/types.js'
import { checkAccept } from './checkAccept.js'
import { judgeAccept } from './judgeAccept.js'
import { loadShown } from './orderLoader.js'
import { storeAccepted } from './storeAccepted.js'

/** Parameters of `accept`: an order and its signed payment. */
export type AcceptPaymentParameters = {
  orderId: string
  /**
   * The payment as received: JSON text, the parsed JSON, or a `SignedPayment`.
   */
  payment: unknown
}

const members: MembersOf<AcceptPaymentParameters> = {
  orderId: true,
  payment: true,
}

/**
 * Reasons of refusals that are not the fault of the payment. They do not count
 * against `mostTries`.
 */
const ownTrouble: readonly string[] = [
  'submitterFunds',
  'noWallet',
  'acceptInFlight',
]

/**
 * Implements `accept` of `DestinationOrders`.
 *
 * Each process verifies only one payment of an order at a time, so that a buyer
 * cannot make it send many requests to the node. Two processes may verify
 * payments of the same order at once; the store lets only one of them write.
 */
export async function acceptPayment(
  context: OrdersContext,
  parameters: AcceptPaymentParameters,
): Promise<AcceptVerdict> {
  checkMembers(parameters, members)
  const orderId = parseOrderId(parameters.orderId)
  const found = await loadShown(context, orderId)
  const kind = signedKindOf(context, found.order)
  const payment = parseSignedPayment(kind, parameters.payment)
  const known = await checkRecord(context, found, payment)
  if (known) return known

  const { accepting } = context
  if (accepting.has(orderId))
    return { ok: false, reason: 'acceptInFlight', details: {} }
  accepting.add(orderId)
  try {
    return await acceptAlone(context, found, payment)
  } finally {
    accepting.delete(orderId)
  }
}

async function acceptAlone(
  context: OrdersContext,
  found: StoredOrder,
  payment: AnySignedPayment,
): Promise<AcceptVerdict> {
  const verdict = await verifyAndStore(context, found, payment)
  if (verdict.ok) return verdict
  // Another process may have accepted this payment meanwhile, and even captured
  // it, which makes its nonce invalid here.
  const now = await loadShown(context, found.order.id)
  const recorded = checkAccept(context, now, payment).verdict
  if (recorded?.ok) return recorded
  if (!ownTrouble.includes(verdict.reason))
    await countTry(context, found.order.id)
  return verdict
}

async function verifyAndStore(
  context: OrdersContext,
  found: StoredOrder,
  payment: AnySignedPayment,
): Promise<AcceptVerdict> {
  const judged = await judgeAccept(context, found.order, payment)
  if (!judged.ok) return judged
  const stored = storeAccepted(context, { found, payment, judged })
  const verdict = await stored.catch((error: unknown) => {
    judged.release()
    throw error
  })
  // Release the gas that we reserved if the payment is refused, or if another
  // process has stored it and reserved gas for it.
  if (!verdict.ok || verdict.at === undefined) judged.release()
  return verdict
}

/**
 * Compares the payment with its order, without asking a node. A refusal counts
 * against `mostTries`.
 */
async function checkRecord(
  context: OrdersContext,
  found: StoredOrder,
  payment: AnySignedPayment,
): Promise<AcceptVerdict | undefined> {
  const check = checkAccept(context, found, payment)
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

/**
 * Parses a signed payment: JSON text, the parsed JSON, or the result of
 * `signPayment`.
 */
function parseSignedPayment(
  kind: PaymentKind,
  given: unknown,
): AnySignedPayment {
  const { value } = Object(Object(given).message)
  // JSON has no bigint, so a bigint shows that this object comes from
  // `signPayment`.
  const payment =
    typeof value === 'bigint' ? kind.parse(given) : kind.decode(given)
  if (isSigned(payment)) return payment
  throw invalidSignature('payment.signature', undefined, 'a signature')
}

function isSigned(payment: AnyPayment): payment is AnySignedPayment {
  return 'signature' in payment
}
