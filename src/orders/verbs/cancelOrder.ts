import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import { readSignedCancellation } from '../../core/fields.js'
import { hashDomain } from '../../core/hashPayment.js'
import type { SignedCancellation } from '../../core/types.js'
import { encodeCancel } from '../../payments/message/encodeCall.js'
import { writeAgain } from '../../store/writeAgain.js'
import { loadOrder } from '../model/loadOrders.js'
import { paymentOf, sealContextOf } from '../model/paymentOf.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { CancelVerdict, OrdersContext } from '../model/types.js'
import { countForged } from './countForged.js'
import { judgeCancel } from './judgeCancel.js'
import {
  type CancelRefusal,
  keepRequested,
  refuseCancel,
  relayCancel,
  writeCancel,
} from './writeCancel.js'

/** What `cancel` takes. */
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

const members: MembersOf<CancelOrderParameters> = {
  orderId: true,
  cancellation: true,
  approve: true,
}

/**
 * Takes a buyer's cancellation: the order is not captured any more. Sent by us
 * or, where the policy keeps that for the merchant, handed back as a call.
 *
 * It is canceled only once the chain shows it: a capture under way can still
 * win, and what is never sent ends nothing.
 *
 * @throws {@link OrderNotFoundError}
 * @throws {@link InvalidFieldError} when the cancellation is malformed or not
 * signed, or there is none and nothing is approved.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or otherwise than it is asked.
 */
export async function cancelOrder(
  context: OrdersContext,
  parameters: CancelOrderParameters,
): Promise<CancelVerdict> {
  const { orderId } = parameters
  if (!('cancellation' in parameters)) {
    checkMembers(parameters, members)
    if (parameters.approve !== true)
      throw new InvalidFieldError('approve', parameters.approve, 'true')
    return approveCancel(context, orderId)
  }
  const cancellation = readSignedCancellation(parameters.cancellation)
  const found = await context.store.read((tables) =>
    loadOrder(tables, context, orderId),
  )
  const refused = checkState(found)
  if (refused) return refuseCancel(found, refused)
  const rejected = await countForged(
    context,
    orderId,
    async () =>
      checkMatch(found, cancellation) ??
      judgeCancel(context, found, cancellation),
  )
  if (rejected) return refuseCancel(found, rejected)
  const sealed = await context.sealer.seal(
    cancellation.signature,
    sealContextOf('cancellation', found.order, found.attempt),
  )
  const { to, data } = encodeCancel(cancellation)
  return writeAgain(context, async (tables) => {
    const now = await loadOrder(tables, context, orderId)
    const late = checkState(now) ?? checkMatch(now, cancellation)
    if (late) return refuseCancel(now, late)
    const verdict = await writeCancel(context, tables, withSecret(now, sealed))
    const { state, requested } = verdict.order
    const isUnsent = verdict.ok && state === 'voided' && requested !== 'cancel'
    return isUnsent ? { ...verdict, call: { to, data } } : verdict
  })
}

/** The merchant has the cancellation that is kept sent. */
function approveCancel(
  context: OrdersContext,
  orderId: string,
): Promise<CancelVerdict> {
  return writeAgain(context, async (tables) => {
    const found = await loadOrder(tables, context, orderId)
    const refused = checkState(found)
    if (refused) return refuseCancel(found, refused)
    if (found.attempt.cancellation === undefined)
      return refuseCancel(found, 'notOpen')
    return found.order.state === 'capturing'
      ? keepRequested(context, tables, found, 'cancel')
      : relayCancel(context, tables, found)
  })
}

function checkState({
  order,
  attempt,
}: StoredOrder): CancelRefusal | undefined {
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
  { order, attempt }: StoredOrder,
  { domain, message }: SignedCancellation,
): CancelRefusal | undefined {
  const expected = paymentOf(order, attempt)
  const matches =
    message.authorizer === expected.message.from &&
    message.nonce === expected.message.nonce &&
    hashDomain(domain) === hashDomain(expected.domain)
  return matches ? undefined : 'otherPayment'
}

function withSecret(found: StoredOrder, cancellation: string): StoredOrder {
  return { ...found, attempt: { ...found.attempt, cancellation } }
}
