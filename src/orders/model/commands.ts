import type { Address } from 'viem'
import type { AttemptRecord, OrderRecord } from '../../store/types.js'
import { type Changes, moveOrder, noChanges, withEvent } from './changes.js'
import { lastSecondOf } from './endsOf.js'
import { captureValueOf } from './kindOf.js'
import type { OrderEventData } from './orderEvents.js'
import { isGivenUp } from './rejectOrder.js'
import type { StoredOrder } from './storedOrder.js'
import type { SettledPolicy } from './types.js'

type Rules = {
  /** Now, in Unix milliseconds. */
  at: bigint
  /**
   * True when buyers' cancellations are sent without the merchant's approval.
   */
  relays: boolean
}

type PolicyRules = Pick<Rules, 'at'> & {
  policy: Pick<SettledPolicy, 'capture' | 'deadlineNear'>
}

/**
 * Plans to keep a payment that was verified.
 *
 * @param attempt the attempt with the window and payer of the payment.
 * @param facts.isHeld true to have the merchant review the order before it is
 * captured.
 */
export function planAcceptance(
  order: OrderRecord,
  attempt: AttemptRecord,
  facts: { payer: Address; submitter: Address; isHeld: boolean },
  rules: PolicyRules,
): Pick<Changes, 'events'> & { order: OrderRecord } {
  const { payer, submitter, isHeld } = facts
  const { at } = rules
  const { number, validBefore } = attempt
  const data = { payer, attempt: number, validBefore: String(validBefore) }
  const moved = moveOrder(
    order,
    'accept',
    'stored',
    { type: 'accepted', at, data },
    { payer, submitter, ...duesOf(order, attempt, rules) },
  )
  if (order.needsReview || !isHeld)
    return { order: moved.order, events: [moved.event] }
  const held = withEvent(
    moved.order,
    { type: 'needsReview', at, data: { payer } },
    {
      needsReview: true,
      sendDue: undefined,
      requested: undefined,
      reason: 'needsReview',
    },
  )
  return { order: held.order, events: [moved.event, held.event] }
}

function duesOf(
  order: OrderRecord,
  { validBefore }: AttemptRecord,
  { policy }: PolicyRules,
): Pick<OrderRecord, 'sendDue' | 'lookDue' | 'deadline' | 'reason'> {
  const { requested, sendDue } = order
  const near = validBefore - policy.deadlineNear
  // A payment with a ceiling cannot be captured before `capture` names the
  // amount.
  const capture =
    captureValueOf(order) === undefined ? 'manual' : policy.capture
  const byPolicy = {
    manual: undefined,
    onAccept: 0n,
    beforeDeadline: near,
  }[capture]
  return {
    sendDue: requested === 'capture' ? sendDue : byPolicy,
    lookDue: near,
    deadline: validBefore,
    reason: undefined,
  }
}

/**
 * Plans to offer the buyer another window: of the same attempt, or of a new
 * one, whose number is higher.
 */
export function planRenewal(
  order: OrderRecord,
  attempt: AttemptRecord,
  submitter: Address,
  { at, policy }: PolicyRules,
): ReturnType<typeof withEvent> {
  const { number, nonce, validBefore } = attempt
  const data = { attempt: number, nonce, validBefore: String(validBefore) }
  const event = { type: 'reauthorized', at, data } as const
  const { lookDue = validBefore - policy.deadlineNear } = order
  // A payment that is already stored keeps its deadline, because `capture`
  // still uses it until a new signature is accepted.
  if (order.state === 'stored')
    return withEvent(order, event, { submitter, tries: 0, lookDue })
  const renewed = {
    submitter,
    tries: 0,
    deadline: validBefore,
    reason: undefined,
    requested: undefined,
    sendDue: undefined,
    finality: undefined,
  }
  return moveOrder(
    order,
    'reauthorize',
    'drafted',
    event,
    number === order.attempt
      ? { ...renewed, lookDue: lastSecondOf(attempt) }
      : {
          ...renewed,
          lookDue: validBefore,
          attempt: number,
          captureValue: undefined,
          settledHash: undefined,
          settledBlock: undefined,
        },
  )
}

/**
 * Plans to give an order up. While a capture is in flight, only keeps the
 * request: if the capture fails, the order is voided then. Changes nothing if
 * the order has ended.
 *
 * @param rules.endsReview false if it is not the merchant who gives the order
 * up: then the payer's next orders still wait for the review. @default true
 */
export function planVoid(
  { order, attempt }: StoredOrder,
  { at, relays, endsReview = true }: Rules & { endsReview?: boolean },
): Changes {
  const needsReview = order.needsReview && !endsReview
  if (order.state === 'voided' && needsReview !== order.needsReview)
    return { ...noChanges(), orders: [{ ...order, needsReview }] }
  if (order.state === 'capturing') {
    // Keep an approved cancellation: it voids the order as well, and is also
    // sent.
    const isKept = isGivenUp(order, relays)
    const kept = { ...order, requested: 'void' as const }
    return { ...noChanges(), orders: isKept ? [] : [kept] }
  }
  if (!['drafted', 'stored', 'canceling'].includes(order.state))
    return noChanges()
  // If the buyer's cancellation is about to be sent, it is sent despite the
  // void.
  const isCanceled = order.state === 'canceling' || order.requested === 'cancel'
  const moved = moveOrder(
    order,
    'void',
    'voided',
    { type: 'voided', at, data: spendableUntilOf(attempt) },
    {
      requested: isCanceled ? 'cancel' : undefined,
      sendDue: isCanceled ? order.sendDue : undefined,
      needsReview,
      // The buyer may have signed the offer without sending it to us, so keep
      // checking until its window ends.
      lookDue: lastSecondOf(attempt),
    },
  )
  return { ...noChanges(), orders: [moved.order], events: [moved.event] }
}

function spendableUntilOf({
  spendable,
  spendableUntil,
}: AttemptRecord): OrderEventData['voided'] {
  return spendable && spendableUntil !== undefined
    ? { spendableUntil: String(spendableUntil) }
    : {}
}

/**
 * Plans what becomes of an order whose buyer signed a cancellation. The attempt
 * has the cancellation already.
 *
 * @param isRelayed true to send the cancellation, false to void the order and
 * only keep it.
 */
export function planCancellation(
  stored: StoredOrder,
  isRelayed: boolean,
  rules: Rules,
): Changes {
  const { state, requested } = stored.order
  if (state === 'canceling') return noChanges()
  if (state === 'capturing') return keepRequest(stored, isRelayed, rules)
  return isRelayed || requested === 'cancel'
    ? relay(stored, rules)
    : setAside(stored, rules)
}

/**
 * Keeps the request while a capture is in flight. If that fails, the submitter
 * carries the request out.
 */
function keepRequest(
  stored: StoredOrder,
  isRelayed: boolean,
  { at, relays }: Rules,
): Changes {
  const { order } = stored
  const { requested: before } = order
  // If we send buyers' cancellations, this one is sent after a void too, so
  // `void` need not be replaced.
  const isVoided = before === 'void' && relays
  const asked = isRelayed ? 'cancel' : 'void'
  const requested = isVoided || before === 'cancel' ? before : asked
  if (before === requested && isKept(stored)) return noChanges()
  const data = { relayed: isRelayed }
  const event = { type: 'cancellationAccepted', at, data } as const
  const kept = withEvent(order, event, { requested })
  return { ...noChanges(), orders: [kept.order], events: [kept.event] }
}

/**
 * Makes the submitter send the cancellation. Once its transaction is stored,
 * the order becomes `canceling`.
 */
function relay({ order }: StoredOrder, { at }: Rules): Changes {
  if (order.requested === 'cancel') return noChanges()
  const data = { relayed: true }
  const event = { type: 'cancellationAccepted', at, data } as const
  const asked = withEvent(order, event, {
    requested: 'cancel',
    sendDue: 0n,
    needsReview: false,
    reason: undefined,
  })
  return { ...noChanges(), orders: [asked.order], events: [asked.event] }
}

/**
 * Voids the order and keeps the cancellation. We do not send it, but the buyer
 * may.
 */
function setAside(stored: StoredOrder, { at }: Rules): Changes {
  const { order, attempt } = stored
  const isVoided = order.state === 'voided'
  if (isVoided && isKept(stored)) return noChanges()
  const data = { relayed: false }
  const event = { type: 'cancellationAccepted', at, data } as const
  const kept = withEvent(order, event)
  if (isVoided)
    return { ...noChanges(), orders: [kept.order], events: [kept.event] }
  const moved = moveOrder(
    kept.order,
    'acceptCancellation',
    'voided',
    { type: 'voided', at, data: {} },
    {
      requested: undefined,
      sendDue: undefined,
      needsReview: false,
      lookDue: lastSecondOf(attempt),
    },
  )
  const events = [kept.event, moved.event]
  return { ...noChanges(), orders: [moved.order], events }
}

/** True when the store already had a cancellation of this attempt. */
function isKept({ order, attempts }: StoredOrder): boolean {
  const known = attempts.find(({ number }) => number === order.attempt)
  return known?.cancellation !== undefined
}
