import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import type { SignedPayment } from '../../core/types.js'
import { loadOrder } from '../model/loadOrders.js'
import { parseOrderId } from '../model/parseOrderId.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { AcceptVerdict, OrdersContext } from '../model/types.js'
import { writeAgain } from '../model/writeAgain.js'
import { checkAccept } from './checkAccept.js'
import { judgeAccept } from './judgeAccept.js'
import { readGivenPayment } from './readGivenPayment.js'
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

/**
 * Judges a signed payment by what was drafted, and keeps it. The same signature
 * again gets the same answer. Where the client batches, one HTTP request.
 *
 * Accepting moves nothing, and reserves nothing on chain: the payer can still
 * spend the funds before the capture.
 *
 * @throws {@link OrderNotFoundError}
 * @throws {@link InvalidFieldError} when the payment is malformed or not signed.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function acceptPayment(
  context: OrdersContext,
  parameters: AcceptPaymentParameters,
): Promise<AcceptVerdict> {
  checkMembers(parameters, members)
  const orderId = parseOrderId(parameters.orderId)
  const payment = readGivenPayment(parameters.payment)
  const known = await checkRecord(context, orderId, payment)
  if ('verdict' in known) return known.verdict

  const lease = await context.store.takeLease({
    key: `accept:${orderId}`,
    // Not the instance: two accepts of one process exclude each other too.
    owner: drawNonce(),
    // A buyer must not wait long for a process that died.
    milliseconds: context.policy.lease,
  })
  if (!lease) return { ok: false, reason: 'acceptInFlight', details: {} }
  try {
    return await acceptAlone(context, orderId, payment)
  } finally {
    // Nothing is written under it: one that is not given back runs out.
    await context.store.releaseLease(lease).catch(() => undefined)
  }
}

async function acceptAlone(
  context: OrdersContext,
  orderId: string,
  payment: SignedPayment,
): Promise<AcceptVerdict> {
  // Whoever held the lease before may have accepted one.
  const known = await checkRecord(context, orderId, payment)
  if ('verdict' in known) return known.verdict
  const judged = await judgeAccept(context, known.order, payment)
  if (!judged.ok) {
    if (!ownTrouble.includes(judged.reason)) await countTry(context, orderId)
    return judged
  }
  const verdict = await storeAccepted(context, {
    found: known,
    payment,
    judged,
  }).catch((error: unknown) => {
    judged.release()
    throw error
  })
  if (!verdict.ok) {
    judged.release()
    await countTry(context, orderId)
  }
  return verdict
}

/** The order, or what its record alone says about the payment. */
async function checkRecord(
  context: OrdersContext,
  orderId: string,
  payment: SignedPayment,
): Promise<StoredOrder | { verdict: AcceptVerdict }> {
  const found = await context.store.read((tables) =>
    loadOrder(tables, context, orderId),
  )
  const check = checkAccept(found, payment)
  if (!check.verdict) return found
  if (check.isTry) await countTry(context, orderId)
  return { verdict: check.verdict }
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
