import { isListed } from '../../store/listedRoles.js'
import { captureValueOf } from './kindOf.js'
import { isMovement } from './movementEvents.js'
import { type MoveCause, moves } from './moves.js'
import { traitsOf } from './roles.js'
import type { StoredOrder } from './storedOrder.js'

/** Why an order does not take a command. */
export type CommandRefusal =
  | 'notOpen'
  | 'consumed'
  | 'expired'
  | 'captureInFlight'

type Asked = Pick<StoredOrder, 'order' | 'attempt'>

/**
 * Returns why an order takes no such input in its state, or `undefined` if it
 * takes it. What the chain shows is never refused.
 */
export function refuseInput(
  asked: Asked,
  kind: string,
): Exclude<CommandRefusal, 'captureInFlight'> | undefined {
  if (kind === 'acceptCancellation') return refuseCancellation(asked)
  const takes = guards[kind]
  return takes && !takes(asked) ? 'notOpen' : undefined
}

const guards: Readonly<
  Record<string, ((asked: Asked) => boolean) | undefined>
> = {
  accept: (asked) =>
    traitsOf(asked.order).hasBuyer
      ? takesPayment(asked)
      : canMove('accept')(asked),
  requestCapture: takesCapture,
  void: takesVoid,
  reauthorize: mayRenew,
  recorded: ({ order: { state, requested } }) =>
    state === 'stored' || (state === 'voided' && requested === 'cancel'),
  revoke: ({ order: { role, state } }) =>
    role === 'permission' && (state === 'drafted' || state === 'stored'),
  // An offer changes no state. It is possible wherever giving up is.
  offer: canMove('giveUp'),
  giveUp: canMove('giveUp'),
  loseNonce: canMove('loseNonce'),
  renewRefund: canMove('renewRefund'),
}

/** Tells whether the order's role has a move by this cause from its state. */
function canMove(cause: MoveCause) {
  return ({ order: { role, state } }: Pick<Asked, 'order'>): boolean =>
    moves[role][cause]?.some(({ from }) => from.includes(state)) ?? false
}

/** True when a payment that the buyer signs now can be stored with the order. */
export function takesPayment({ order, attempt }: Asked): boolean {
  if (!traitsOf(order).hasBuyer) return false
  if (order.state === 'drafted') return true
  return (
    order.state === 'stored' &&
    order.requested !== 'cancel' &&
    (attempt.signedAfter !== attempt.validAfter ||
      attempt.signedBefore !== attempt.validBefore)
  )
}

/**
 * False while a capture or cancellation is in flight or already requested, and
 * while the amount to capture is not known.
 */
function takesCapture({ order }: Pick<Asked, 'order'>): boolean {
  const { state, requested, needsReview, sendDue } = order
  // A deposit that was refused can be asked for again, as long as it is valid.
  if (!isListed(order) && !isMovement(order)) return false
  if (captureValueOf(order) === undefined) return false
  const isAsked =
    requested === 'capture' && !needsReview && sendDue !== undefined
  return state === 'stored' && requested !== 'cancel' && !isAsked
}

/** True when `void` changes something, or has done so. */
function takesVoid({ order }: Pick<Asked, 'order'>): boolean {
  // A subscription ends by `subscriptions.cancel`, and a refund by itself.
  if (!isListed(order)) return false
  const { state } = order
  // Is kept, or was done before.
  if (state === 'capturing' || state === 'voided') return true
  return canMove('void')({ order })
}

/**
 * Returns why an order takes no cancellation, or `undefined` if it takes one.
 */
export function refuseCancellation({
  order,
  attempt,
}: Asked): Exclude<CommandRefusal, 'captureInFlight'> | undefined {
  // A charge of a subscription has no payment to cancel; the buyer revokes the
  // spend permission instead.
  if (!traitsOf(order).hasBuyer) return 'notOpen'
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
      // A voided order without a payer was voided before the buyer signed, so
      // no signature can be canceled.
      return attempt.payer === undefined ? 'notOpen' : undefined
  }
}

/** True when the buyer may sign the order again. */
export function mayRenew(asked: Asked): boolean {
  const { state, requested, total } = asked.order
  // A subscription's charge has no payment to sign: the payer signed a spend
  // permission once.
  if (!traitsOf(asked.order).hasBuyer) return false
  // The nonce of a payment with a ceiling is computed from its terms, which
  // contain the window. Signatures for two windows would have two nonces, and
  // both could be captured. So allow it only if no signature exists that can be
  // captured.
  if (total === 'atMost') return isDead(asked) || isUnsigned(asked)
  return state === 'stored'
    ? requested !== 'cancel'
    : ['drafted', 'expired', 'canceled'].includes(state)
}

/** True when no signature of the last attempt can be captured any more. */
export function isDead({
  order: { state, finality },
}: Pick<Asked, 'order'>): boolean {
  return (
    state === 'canceled' || (state === 'expired' && finality === 'finalized')
  )
}

/** True when the buyer has never given us a signature of the attempt. */
function isUnsigned({ order: { state }, attempt }: Asked): boolean {
  const isOpen = state === 'drafted' || state === 'expired'
  return isOpen && attempt.signatureHash === undefined
}
