import type { Address } from 'viem'
import type { AttemptRecord, OrderRecord } from '../../store/types.js'
import { type Changes, moveOrder, noChanges, withEvent } from './changes.js'
import { lastSecondOf } from './endsOf.js'
import { captureValueOf } from './kindOf.js'
import type { OrderEventData } from './orderEvents.js'
import type { CommandRefusal } from './refusals.js'
import { isGivenUp, isRelaying } from './rejectOrder.js'
import { traitsOf } from './roles.js'
import type { StoredOrder } from './storedOrder.js'
import type { SettledPolicy } from './types.js'

/** What a change depends on, besides the order: the time and the policy. */
export type Rules = {
  /** Now, in Unix milliseconds. */
  at: bigint
  policy: Pick<SettledPolicy, 'capture' | 'deadlineNear' | 'relayCancellations'>
}

/** Rows to write, and why the order did not take the command, if it did not. */
export type Applied = Changes & { refusal?: CommandRefusal | undefined }

type Asked = Pick<StoredOrder, 'order' | 'attempt'>

/** A payment that was verified: it is kept with its order. */
export type Acceptance = {
  /** The attempt with the window and payer of the payment. */
  attempt: AttemptRecord
  payer: Address
  submitter: Address
  /** True to have the merchant review the order before it is captured. */
  isHeld: boolean
  /**
   * Whether to capture now, or only when somebody asks. @default what
   * `policy.capture` says
   */
  capture?: 'now' | 'later' | undefined
}

/** Keeps a payment that was verified. */
export function planAcceptance(
  { order }: Pick<Asked, 'order'>,
  accepted: Acceptance,
  rules: Rules,
): Changes {
  const { attempt, payer, submitter, isHeld } = accepted
  const { at } = rules
  const { number, validBefore } = attempt
  const data = { payer, attempt: number, validBefore: String(validBefore) }
  const moved = moveOrder(
    order,
    'accept',
    'stored',
    { type: 'accepted', at, data },
    { payer, submitter, ...duesOf(order, accepted, rules) },
  )
  const attempts = [attempt]
  const kept = { ...noChanges(), attempts }
  if (order.needsReview || !isHeld)
    return { ...kept, orders: [moved.order], events: [moved.event] }
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
  return { ...kept, orders: [held.order], events: [moved.event, held.event] }
}

type Dues = Pick<
  OrderRecord,
  'requested' | 'sendDue' | 'lookDue' | 'deadline' | 'reason'
>

function duesOf(
  order: OrderRecord,
  { attempt: { validBefore }, capture }: Acceptance,
  { policy }: Pick<Rules, 'policy'>,
): Dues {
  const { requested, sendDue, lookDue, deadline } = order
  const open = { requested, deadline: validBefore, reason: undefined }
  const { isPaidByUs, isScheduled } = traitsOf(order)
  // Only the schedule of a subscription looks at its permission.
  if (isScheduled)
    return { requested, sendDue, lookDue, deadline, reason: order.reason }
  if (isPaidByUs) return { ...open, sendDue: 0n, lookDue: validBefore }
  // Look next at the deadline: an earlier look would capture by
  // `policy.capture`, but here only the caller may request the capture.
  if (capture === 'later')
    return {
      ...open,
      requested: undefined,
      sendDue: undefined,
      lookDue: validBefore,
    }
  if (capture === 'now')
    return { ...open, requested: 'capture', sendDue: 0n, lookDue: validBefore }
  const near = validBefore - policy.deadlineNear
  // A payment with a ceiling cannot be captured before `capture` names the
  // amount.
  const chosen = captureValueOf(order) === undefined ? 'manual' : policy.capture
  const byPolicy = {
    manual: undefined,
    onAccept: 0n,
    beforeDeadline: near,
  }[chosen]
  return {
    ...open,
    sendDue: requested === 'capture' ? sendDue : byPolicy,
    lookDue: near,
  }
}

/** The request to capture an order. */
export type CaptureAsked = {
  /** The account that submits the capture. @default the one before */
  submitter?: Address | undefined
  /** When to send it, in Unix seconds of the chain. @default at once */
  sendDue?: bigint | undefined
}

/** Makes the submitter send the capture. Ends the merchant's review. */
export function planCaptureRequest(
  { order }: Pick<Asked, 'order'>,
  { submitter = order.submitter, sendDue = 0n }: CaptureAsked,
  { at }: Pick<Rules, 'at'>,
): Changes {
  const { captureValue } = order
  const data = captureValue === undefined ? {} : { value: String(captureValue) }
  const asked = withEvent(
    order,
    { type: 'captureRequested', at, data },
    {
      requested: 'capture',
      sendDue,
      needsReview: false,
      reason: undefined,
      submitter,
    },
  )
  return { ...noChanges(), orders: [asked.order], events: [asked.event] }
}

/**
 * Offers the buyer another window: of the same attempt, or of a new one, whose
 * number is higher. The caller inserts a new attempt.
 */
export function planRenewal(
  { order }: Pick<Asked, 'order'>,
  {
    attempt,
    submitter = order.submitter,
  }: { attempt: AttemptRecord; submitter?: Address | undefined },
  { at, policy }: Rules,
): Changes {
  const { number, nonce, validBefore } = attempt
  const isNew = number !== order.attempt
  const attempts = isNew ? [] : [attempt]
  const data = { attempt: number, nonce, validBefore: String(validBefore) }
  const event = { type: 'reauthorized', at, data } as const
  const { lookDue = validBefore - policy.deadlineNear } = order
  // A payment that is already stored keeps its deadline, because `capture`
  // still uses it until a new signature is accepted.
  const offer = { submitter, tries: 0, deadline: validBefore }
  const ended = {
    reason: undefined,
    requested: undefined,
    sendDue: undefined,
    finality: undefined,
  }
  const offered =
    order.state === 'stored'
      ? withEvent(order, event, { submitter, tries: 0, lookDue })
      : moveOrder(order, 'reauthorize', 'drafted', event, {
          ...offer,
          ...ended,
          lookDue: lastSecondOf(attempt),
          ...(isNew ? { ...unsettled, attempt: number } : {}),
        })
  const { order: row, event: told } = offered
  return { ...noChanges(), attempts, orders: [row], events: [told] }
}

const unsettled = {
  captureValue: undefined,
  settledHash: undefined,
  settledBlock: undefined,
} as const

/**
 * Gives an order up. While a capture is in flight, only keeps the request: if
 * the capture fails, the order is voided then.
 */
export function planVoid(
  { order, attempt }: Asked,
  {
    endsReview = true,
  }: {
    /**
     * False if it is not the merchant who gives the order up: then the payer's
     * next orders still wait for the review. @default true
     */
    endsReview?: boolean | undefined
  },
  { at, policy }: Rules,
): Applied {
  const needsReview = order.needsReview && !endsReview
  if (order.state === 'voided' && needsReview !== order.needsReview)
    return { ...noChanges(), orders: [{ ...order, needsReview }] }
  if (order.state === 'voided') return noChanges()
  if (order.state === 'capturing') {
    // Keep an approved cancellation: it voids the order as well, and is also
    // sent.
    const isKept = isGivenUp(order, policy)
    const kept = { ...order, requested: 'void' as const }
    const orders = isKept ? [] : [kept]
    return { ...noChanges(), orders, refusal: 'captureInFlight' }
  }
  // If the buyer's cancellation is about to be sent, it is sent despite the
  // void.
  const isCanceled = order.state === 'canceling' || order.requested === 'cancel'
  // The schedule of a subscription looks at its permission and charges itself.
  const looks = traitsOf(order).isScheduled
    ? { data: {}, lookDue: order.lookDue }
    : // The buyer may have signed the offer without sending it to us, so keep
      // checking until its window ends.
      { data: spendableUntilOf(attempt), lookDue: lastSecondOf(attempt) }
  const moved = moveOrder(
    order,
    'void',
    'voided',
    { type: 'voided', at, data: looks.data },
    {
      requested: isCanceled ? 'cancel' : undefined,
      sendDue: isCanceled ? order.sendDue : undefined,
      needsReview,
      lookDue: looks.lookDue,
    },
  )
  return { ...noChanges(), orders: [moved.order], events: [moved.event] }
}

/**
 * Revokes the spend permission of a subscription, or gives up one that was
 * never signed.
 */
export function planRevocation(asked: Asked, rules: Rules): Changes {
  if (asked.order.state === 'drafted') return planVoid(asked, {}, rules)
  const revoked = withEvent(
    asked.order,
    { type: 'cancellationAccepted', at: rules.at, data: { relayed: true } },
    { requested: 'cancel', sendDue: 0n, reason: undefined },
  )
  return { ...noChanges(), orders: [revoked.order], events: [revoked.event] }
}

function spendableUntilOf({
  spendable,
  spendableUntil,
}: AttemptRecord): OrderEventData['voided'] {
  return spendable && spendableUntil !== undefined
    ? { spendableUntil: String(spendableUntil) }
    : {}
}

/** The buyer's signed cancellation of a payment. */
export type CancelInput = {
  /** True to send it, false to void the order and only keep it. */
  isRelayed: boolean
  /** The sealed signature. @default the one that is kept already */
  cancellation?: string | undefined
}

/** Decides what becomes of an order whose buyer signed a cancellation. */
export function planCancellation(
  { order, attempt }: Asked,
  { isRelayed, cancellation }: CancelInput,
  rules: Rules,
): Applied {
  const { state, requested } = order
  if (state === 'canceling') return noChanges()
  const asked = { order, attempt, isRelayed }
  const planned =
    state === 'capturing'
      ? keepRequest(asked, rules)
      : isRelayed || requested === 'cancel'
        ? relay(order, rules)
        : setAside(asked, rules)
  const attempts =
    cancellation === undefined ? [] : [{ ...attempt, cancellation }]
  return { ...planned, attempts }
}

/**
 * Keeps the request while a capture is in flight. If that fails, the submitter
 * carries the request out.
 */
function keepRequest(
  { order, attempt, isRelayed }: Asked & Pick<CancelInput, 'isRelayed'>,
  { at, policy }: Rules,
): Applied {
  const { requested: before } = order
  const refusal = 'captureInFlight'
  // If we send buyers' cancellations, this one is sent after a void too, so
  // `void` need not be replaced.
  const isVoided = before === 'void' && isRelaying({ policy })
  const asked = isRelayed ? 'cancel' : 'void'
  const requested = isVoided || before === 'cancel' ? before : asked
  if (before === requested && attempt.cancellation !== undefined)
    return { ...noChanges(), refusal }
  const data = { relayed: isRelayed }
  const event = { type: 'cancellationAccepted', at, data } as const
  const kept = withEvent(order, event, { requested })
  const events = [kept.event]
  return { ...noChanges(), orders: [kept.order], events, refusal }
}

/**
 * Makes the submitter send the cancellation. Once its transaction is stored,
 * the order becomes `canceling`.
 */
function relay(order: OrderRecord, { at }: Rules): Changes {
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
function setAside({ order, attempt }: Asked, { at }: Rules): Changes {
  const isVoided = order.state === 'voided'
  if (isVoided && attempt.cancellation !== undefined) return noChanges()
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
