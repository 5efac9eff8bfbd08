import type { Hash } from 'viem'
import type { Finality } from '../../core/types.js'
import type { OrderReason, ProofRecord } from '../../store/types.js'
import { noChanges } from './changes.js'
import {
  type Acceptance,
  type Applied,
  type CancelInput,
  type CaptureAsked,
  planAcceptance,
  planCancellation,
  planCaptureRequest,
  planRenewal,
  planRevocation,
  planVoid,
  type Rules,
} from './commands.js'
import { TransitionError } from './errors.js'
import {
  endDue,
  endEarlyWork,
  endLooks,
  giveUpSending,
  holdOrder,
  postponeOrder,
  type Reserved,
  reserveAnswer,
  type Started,
  showPreconfirmed,
  startOrder,
} from './outcomes.js'
import { type Gone, planGone } from './planGone.js'
import { type Look, planLook } from './planLook.js'
import { raiseFinality } from './raiseFinality.js'
import {
  failRefund,
  loseNonce,
  offerRefund,
  type RefundOffer,
  renewRefund,
} from './refundMoves.js'
import { refuseInput } from './refusals.js'
import {
  type Freed,
  type Refused,
  rejectOrder,
  reopenOrder,
} from './rejectOrder.js'
import { type Evidence, settleOrder } from './settleOrder.js'
import type { StoredOrder } from './storedOrder.js'
import type { HasClock, SettledPolicy } from './types.js'

export type { Applied, Rules }

/** What can happen to an order of which only the row is needed. */
export type RowInput =
  // The chain shows it.
  | { kind: 'preconfirmed'; hash: Hash }
  | {
      kind: 'final'
      /** The proof of the settlement. */
      proof: ProofRecord | undefined
      finality: Finality
      /** Finality at which the goods are delivered. */
      fulfilAt: Finality
    }
  // The submitter.
  | { kind: 'nothingDue' }
  | { kind: 'postponed'; until: bigint }
  | { kind: 'givingUp'; reason: OrderReason }
  | { kind: 'blamed' }
  // Another row asks for the same.
  | { kind: 'repeated' }
  // Commands.
  | ({ kind: 'requestCapture' } & CaptureAsked)
  | ({ kind: 'reserve' } & Reserved)
  | { kind: 'endWork'; isAnswered: boolean }
  // Refunds.
  | ({ kind: 'offer' } & RefundOffer)
  | { kind: 'giveUp'; reason: OrderReason }
  | { kind: 'loseNonce' }
  | { kind: 'renewRefund'; number: number }

/** What can happen to an order of which an attempt is needed too. */
export type AttemptInput =
  | Evidence
  // A transaction of ours.
  | ({ kind: 'recorded' } & Started)
  | ({ kind: 'refused' } & Refused)
  | ({ kind: 'freed' } & Freed)
  // The worker.
  | ({ kind: 'look' } & Look)
  // Commands.
  | ({ kind: 'accept' } & Acceptance)
  | { kind: 'void'; endsReview?: boolean | undefined }
  | ({ kind: 'acceptCancellation' } & CancelInput)
  | ({ kind: 'reauthorize' } & Parameters<typeof planRenewal>[1])
  | { kind: 'revoke' }

/** Everything that can happen to an order. */
export type Input = RowInput | AttemptInput | ({ kind: 'gone' } & Gone)

type Row = Pick<StoredOrder, 'order'>
type WithAttempt = Omit<StoredOrder, 'attempts'>

/**
 * Decides what becomes of an order: its next state, what is requested, what is
 * due and when, and whether a review is needed, with the events that report it.
 * Also reserves early answers; `writeChanges` releases or counts them by the new
 * state. Nothing else writes these fields. Asks no node and no store: what it
 * returns is a plan, which `writeChanges` writes.
 *
 * Returns no rows where nothing changes, and a `refusal` where a command comes
 * at the wrong time.
 */
export function apply(stored: Row, input: RowInput, rules: Rules): Applied
export function apply(
  stored: WithAttempt,
  input: RowInput | AttemptInput,
  rules: Rules,
): Applied
export function apply(stored: StoredOrder, input: Input, rules: Rules): Applied
export function apply(given: Row, input: Input, rules: Rules): Applied {
  // The signatures above say what each input needs.
  const stored = given as StoredOrder
  const refusal = refuseInput(stored, input.kind)
  if (refusal) return { ...noChanges(), refusal }
  const { at } = rules
  switch (input.kind) {
    case 'capture':
    case 'cancel':
    case 'consumed':
    case 'withdrawn':
    case 'expired':
      return settleOrder(stored, input, at)
    case 'gone':
      return planGone(stored, input, rules)
    case 'final':
      return raiseFinality(stored.order, input.proof, { ...input, at })
    case 'preconfirmed':
      return showPreconfirmed(stored, input, at)
    case 'recorded':
      return startOrder(stored, input, at)
    case 'refused':
      return { ...noChanges(), ...rejectOrder(stored, input, rules) }
    case 'freed':
      return { ...noChanges(), ...reopenOrder(stored, input, rules) }
    case 'nothingDue':
      return endDue(stored)
    case 'postponed':
      return postponeOrder(stored, input)
    case 'givingUp':
      return giveUpSending(stored, input)
    case 'blamed':
      return holdOrder(stored, at)
    case 'repeated':
      return endLooks(stored)
    case 'look':
      return planLook(stored, input, rules)
    case 'accept':
      return planAcceptance(stored, input, rules)
    case 'requestCapture':
      return planCaptureRequest(stored, input, rules)
    case 'void':
      return planVoid(stored, input, rules)
    case 'acceptCancellation':
      return planCancellation(stored, input, rules)
    case 'reauthorize':
      return planRenewal(stored, input, rules)
    case 'revoke':
      return planRevocation(stored, rules)
    case 'reserve':
      return reserveAnswer(stored, input)
    case 'endWork':
      return endEarlyWork(stored, input)
    case 'offer':
      return offerRefund(stored, input)
    case 'giveUp':
      return failRefund(stored, input, at)
    case 'loseNonce':
      return loseNonce(stored)
    case 'renewRefund':
      return renewRefund(stored, input)
  }
}

/**
 * Like {@link apply}, for callers that checked before that the order takes this
 * input. A refusal is then a bug, so it throws.
 *
 * @throws {@link TransitionError} when the input is refused.
 */
export const applyTaken = ((
  stored: StoredOrder,
  input: Input,
  rules: Rules,
) => {
  const { refusal, ...changes } = apply(stored, input, rules)
  if (refusal === undefined) return changes
  const { role, state: from } = stored.order
  throw new TransitionError({ role, cause: input.kind, from })
}) as typeof apply

/** Returns the rules for changes that are made now. */
export function rulesOf({
  now,
  policy,
}: HasClock & { policy: SettledPolicy }): Rules {
  return { at: now(), policy }
}
