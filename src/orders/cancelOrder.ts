import { readSignedCancellation } from '../base/fields.js'
import { hashDomain } from '../base/hashPayment.js'
import type { SignedCancellation } from '../base/types.js'
import { encodeCancel } from '../build/encodeCall.js'
import type { StoreWriter } from '../store/types.js'
import { moveOrder, noChanges, tellOrder, writeChanges } from './changes.js'
import { type FoundOrder, findOrder } from './findOrder.js'
import { judgeCancel } from './judgeCancel.js'
import { paymentOf, sealContextOf } from './paymentOf.js'
import { showOrder } from './showOrder.js'
import type { CancelVerdict, OrdersContext } from './types.js'
import { writeAgain } from './writeAgain.js'

export type CancelOrderParameters = {
  orderId: string
} & (
  | {
      /** What the buyer signed. */
      cancellation: SignedCancellation
    }
  | {
      /** Sends the cancellation that is kept: the merchant agrees. */
      approve: true
    }
)

/**
 * Takes a buyer's cancellation: the order is not captured any more. Sent by us
 * or, where the policy keeps that for the merchant, handed back as a call.
 *
 * It is canceled only once the chain shows it: a capture under way can still
 * win, and what is never sent ends nothing.
 *
 * @throws {@link OrderNotFoundError}
 * @throws {@link InvalidFieldError} when the cancellation is malformed or not
 * signed.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function cancelOrder(
  context: OrdersContext,
  parameters: CancelOrderParameters,
): Promise<CancelVerdict> {
  const { orderId } = parameters
  if (!('cancellation' in parameters)) return approveCancel(context, orderId)
  const cancellation = readSignedCancellation(parameters.cancellation)
  const found = await context.store.read((tables) =>
    findOrder(tables, context, orderId),
  )
  const refused = checkState(found) ?? checkMatch(found, cancellation)
  if (refused) return refuse(found, refused)
  const rejected = await judgeCancel(context, found, cancellation)
  if (rejected) return refuse(found, rejected)
  const sealed = await context.sealer.seal(
    cancellation.signature,
    sealContextOf('cancellation', found.order, found.attempt),
  )
  const { to, data } = encodeCancel(cancellation)
  return writeAgain(context, async (tables) => {
    const now = await findOrder(tables, context, orderId)
    const late = checkState(now) ?? checkMatch(now, cancellation)
    if (late) return refuse(now, late)
    const verdict = await writeCancel(context, tables, withSecret(now, sealed))
    const isUnsent = verdict.ok && verdict.order.wish !== 'cancel'
    return isUnsent ? { ...verdict, call: { to, data } } : verdict
  })
}

/** The merchant has the cancellation that is kept sent. */
function approveCancel(
  context: OrdersContext,
  orderId: string,
): Promise<CancelVerdict> {
  return writeAgain(context, async (tables) => {
    const found = await findOrder(tables, context, orderId)
    const refused = checkState(found)
    if (refused) return refuse(found, refused)
    if (found.attempt.cancellation === undefined)
      return refuse(found, 'notOpen')
    return found.order.state === 'capturing'
      ? keepWish(context, tables, found, 'cancel')
      : relay(context, tables, found)
  })
}

type Reason = Extract<CancelVerdict, { ok: false }>['reason']

function refuse(found: FoundOrder, reason: Reason): CancelVerdict {
  return { ok: false, reason, order: showOrder(found) }
}

function checkState({ order, attempt }: FoundOrder): Reason | undefined {
  switch (order.state) {
    case 'captured':
    case 'canceled':
    case 'consumed':
      return 'consumed'
    case 'expired':
      return 'expired'
    case 'drafted':
      return 'notOpen'
    default:
      // Voided before anything was signed.
      return attempt.payer === undefined ? 'notOpen' : undefined
  }
}

function checkMatch(
  { order, attempt }: FoundOrder,
  { domain, message }: SignedCancellation,
): Reason | undefined {
  const expected = paymentOf(order, attempt)
  const matches =
    message.authorizer === expected.message.from &&
    message.nonce === expected.message.nonce &&
    hashDomain(domain) === hashDomain(expected.domain)
  return matches ? undefined : 'otherPayment'
}

function withSecret(found: FoundOrder, cancellation: string): FoundOrder {
  return { ...found, attempt: { ...found.attempt, cancellation } }
}

async function writeCancel(
  context: OrdersContext,
  tables: StoreWriter,
  found: FoundOrder,
): Promise<CancelVerdict> {
  const { order, attempt } = found
  const isRelayed = context.policy.relayCancellations === 'always'
  if (order.state === 'canceling') return accept(found)
  await tables.attempts.update([attempt])
  if (order.state === 'capturing')
    return keepWish(context, tables, found, isRelayed ? 'cancel' : 'void')
  return isRelayed || order.wish === 'cancel'
    ? relay(context, tables, found)
    : setAside(context, tables, found)
}

/** Applied by the lane if the capture under way comes to nothing. */
async function keepWish(
  context: OrdersContext,
  tables: StoreWriter,
  found: FoundOrder,
  asked: 'cancel' | 'void',
): Promise<CancelVerdict> {
  const wish = found.order.wish === 'cancel' ? 'cancel' : asked
  if (found.order.wish === wish) return refuse(found, 'captureInFlight')
  const { order, event } = tellOrder(
    found.order,
    {
      type: 'cancelRequested',
      at: context.now(),
      data: { relayed: wish === 'cancel' },
    },
    { wish },
  )
  await tables.orders.update([order])
  await tables.events.append([event])
  return refuse({ ...found, order }, 'captureInFlight')
}

/** The lane sends it; with its transaction the order becomes `canceling`. */
async function relay(
  context: OrdersContext,
  tables: StoreWriter,
  found: FoundOrder,
): Promise<CancelVerdict> {
  const { order } = found
  if (order.state === 'canceling' || order.wish === 'cancel')
    return accept(found)
  const told = tellOrder(
    order,
    { type: 'cancelRequested', at: context.now(), data: { relayed: true } },
    { wish: 'cancel', sendDue: 0n, reason: undefined },
  )
  await tables.orders.update([told.order])
  await tables.events.append([told.event])
  return accept({ ...found, order: told.order })
}

/** Not sent by us: the order is given up, and the buyer may send it. */
async function setAside(
  context: OrdersContext,
  tables: StoreWriter,
  found: FoundOrder,
): Promise<CancelVerdict> {
  const { order, attempt } = found
  const at = context.now()
  const told = tellOrder(order, {
    type: 'cancelRequested',
    at,
    data: { relayed: false },
  })
  const moved =
    order.state === 'voided'
      ? undefined
      : moveOrder(
          told.order,
          'voided',
          { type: 'voided', at },
          {
            wish: undefined,
            sendDue: undefined,
            lookDue: attempt.spendableUntil ?? order.deadline,
          },
        )
  const last = moved ?? told
  await writeChanges(tables, {
    ...noChanges(),
    orders: [last.order],
    events: moved ? [told.event, moved.event] : [told.event],
  })
  return accept({ ...found, order: last.order })
}

function accept(found: FoundOrder): CancelVerdict {
  return { ok: true, order: showOrder(found) }
}
