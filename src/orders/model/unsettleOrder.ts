import { carries } from '../../store/movements.js'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
  TransactionRecord,
} from '../../store/types.js'
import { type Changes, moveOrder, noChanges, withEvent } from './changes.js'
import { isAnsweredEarly } from './earlyAnswer.js'
import { endsOf } from './endsOf.js'
import { isGivenUp } from './rejectOrder.js'
import { reopenLast } from './reopenLast.js'
import { reportLoss } from './reportLoss.js'
import { traitsOf } from './roles.js'
import type { StoredOrder } from './storedOrder.js'
import type { SettledPolicy } from './types.js'

/**
 * An order at the attempt whose transaction is gone. Without `attempts`, that
 * attempt counts as the newest.
 */
type Settled = Omit<StoredOrder, 'attempts'> & Partial<StoredOrder>

type Facts = {
  transactions: readonly TransactionRecord[]
  /** Time of the newest block in Unix seconds. */
  blockTime: bigint
  at: bigint
  policy: Pick<SettledPolicy, 'capture' | 'deadlineNear' | 'relayCancellations'>
}

/**
 * Undoes a settlement that a reorganization removed from the chain. While the
 * window is open, the submitter sends our transactions again. Otherwise the
 * order gets the state that it would have without that transaction.
 *
 * If the reorganization replaces finalized blocks, the secrets were already
 * erased and nothing can be sent again. An event reports that as `sealBroken`.
 */
export function unsettleOrder(stored: Settled, facts: Facts): Changes {
  const { order, attempt, proofs } = stored
  const { settledHash: transactionHash } = order
  const { at } = facts
  if (transactionHash === undefined) return noChanges()
  const gone = proofs.filter(
    (proof) => !proof.removed && proof.transactionHash === transactionHash,
  )
  const { to, reopened, isLost, isCancelDue, ...fields } = planWithout(
    stored,
    facts,
  )
  const moved = moveOrder(
    order,
    'gone',
    to,
    {
      type: 'reorged',
      at,
      data: { transactionHash, from: order.state, to },
    },
    {
      finality: undefined,
      settledHash: undefined,
      settledBlock: undefined,
      ...fields,
    },
  )
  const erased = isLost ? [reportErased(moved.order, order, at)] : []
  const removed = gone.map((proof) => ({ ...proof, removed: true }))
  const others = proofs.filter((proof) => !gone.includes(proof))
  const loss = reportOlderLoss(erased[0]?.order ?? moved.order, {
    removed,
    others,
    at,
  })
  // Send nothing again for an order that was voided, except a cancellation that
  // was requested.
  const isAgain = isSentAgain(moved.order) && !isCancelDue
  const spendable = facts.blockTime < endsOf(attempt).cancel
  return {
    ...noChanges(),
    orders: loss.orders,
    attempts: [{ ...attempt, spendable }],
    transactions: isAgain ? reopened : [],
    proofs: removed,
    events: [moved.event, ...erased.map(({ event }) => event), ...loss.events],
  }
}

/**
 * Reports the loss at once if the order has a newer attempt: later polls check
 * only that one, and not the payment for which the goods were shipped.
 */
function reportOlderLoss(
  order: OrderRecord,
  {
    removed,
    others,
    at,
  }: {
    removed: readonly ProofRecord[]
    others: readonly ProofRecord[]
    at: bigint
  },
): Pick<Changes, 'orders' | 'events'> {
  const number = removed[0]?.attempt
  const isPaid = others.some(
    (proof) => proof.kind === 'capture' && !proof.removed,
  )
  return number === order.attempt || isPaid
    ? { orders: [order], events: [] }
    : reportLoss(order, { proofs: removed, at, number })
}

/**
 * State and due times that an order gets without the transaction that settled
 * it.
 */
type Plan = Pick<OrderRecord, 'requested' | 'sendDue' | 'lookDue'> & {
  to: OrderRecord['state']
  reopened: TransactionRecord[]
  /**
   * True when the buyer's cancellation must be sent now, because a capture had
   * come first and a reorg undid that capture.
   */
  isCancelDue: boolean
  /** True when the signature that we would need to send again was erased. */
  isLost: boolean
}

function planWithout(stored: Settled, facts: Facts): Plan {
  const { order, attempt } = stored
  const { blockTime, policy } = facts
  const isCapture = order.state === 'captured'
  const ends = endsOf(attempt)
  const isOpen =
    blockTime < ends[order.state === 'canceled' ? 'cancel' : 'capture']
  // No transaction of ours consumes a nonce for something else.
  const ours = facts.transactions.filter(
    (row) =>
      order.state !== 'consumed' &&
      carries(row, order.id, attempt.number) &&
      row.kind === (isCapture ? 'capture' : 'cancel'),
  )
  const secret = isCapture ? attempt.signature : attempt.cancellation
  const reopened = reopenLast(ours, secret)
  const isCurrent = order.attempt === attempt.number
  const isCancelDue =
    isCapture &&
    isCurrent &&
    blockTime < ends.cancel &&
    isToBeSent(stored, policy)
  const without = { isOpen, isReopened: reopened.length > 0, isCancelDue }
  const to = stateWithout(stored, policy, without)
  // The stored payment waits for its capture, as after `accept`, unless the
  // buyer canceled it.
  const isDue =
    to === 'stored' && isOpen && order.state !== 'canceled' && isCurrent
  const isSendable = isDue && attempt.signature !== undefined
  // The goods were shipped, so capture again at once, whatever `policy.capture`
  // is.
  const isOwed = isSendable && (isServed(order) || traitsOf(order).isPaidByUs)
  const isAsked =
    isCancelDue ||
    isOwed ||
    // The policy never captures a payment with a ceiling, because only the
    // merchant knows the amount.
    (isSendable && order.total === 'amount' && policy.capture === 'onAccept')
  const lookDue = isDue ? ends.capture - policy.deadlineNear : ends.cancel
  const isErased = wasErased(order, attempt, { ours, to })
  return {
    to,
    reopened,
    isCancelDue,
    isLost: isOpen && isCurrent && !isCancelDue && isErased,
    lookDue: isOpen ? lookDue : blockTime,
    sendDue: isAsked ? 0n : undefined,
    requested: isOwed ? 'capture' : requestWithout(order, to, without),
  }
}

function wasErased(
  { state }: OrderRecord,
  { signature, signatureHash, cancellation }: AttemptRecord,
  {
    ours,
    to,
  }: { ours: readonly TransactionRecord[]; to: OrderRecord['state'] },
): boolean {
  const wasHeld = ours.length > 0 || signatureHash !== undefined
  if (state === 'captured')
    return to === 'stored' && signature === undefined && wasHeld
  return (
    to !== 'canceling' &&
    state === 'canceled' &&
    ours.length > 0 &&
    cancellation === undefined
  )
}

function reportErased(
  order: OrderRecord,
  { state }: OrderRecord,
  at: bigint,
): ReturnType<typeof withEvent> {
  const type = state === 'captured' ? 'captureRejected' : 'cancelRejected'
  const reason = 'sealBroken'
  return withEvent(order, { type, at, data: { reason } }, { reason })
}

/** True when the submitter sends the order's transactions again. */
function isSentAgain({ state, requested }: OrderRecord): boolean {
  return (
    state === 'capturing' || state === 'canceling' || requested === 'cancel'
  )
}

/**
 * True when the buyer's cancellation must be sent now, because a capture had
 * come first and a reorg undid that capture.
 */
function isToBeSent(
  { order, attempt }: Pick<StoredOrder, 'order' | 'attempt'>,
  { relayCancellations }: Pick<SettledPolicy, 'relayCancellations'>,
): boolean {
  const { requested } = order
  const isRelayed = requested === 'void' && relayCancellations === 'always'
  const isWanted = requested === 'cancel' || isRelayed
  return isWanted && attempt.cancellation !== undefined && !isServed(order)
}

/** True when the goods were delivered, so the merchant must be paid. */
const isServed = (order: OrderRecord): boolean =>
  order.fulfilled !== undefined || isAnsweredEarly(order)

type Without = { isOpen: boolean; isReopened: boolean; isCancelDue: boolean }

function stateWithout(
  stored: Settled,
  policy: Facts['policy'],
  { isOpen, isReopened, isCancelDue }: Without,
): OrderRecord['state'] {
  const { order } = stored
  const { state, unexpected, requested } = order
  // Capture an order again if its goods were delivered, even if it was voided
  // before.
  const isOwed = state === 'captured' && isServed(order)
  // A requested cancellation gives the order up, even if it comes too late.
  const isCanceled =
    state === 'captured' && requested === 'cancel' && !isCancelDue
  const isOver =
    isCanceled || isGivenUp({ state: 'capturing', requested }, policy)
  if (unexpected || (isOver && !isOwed)) return 'voided'
  // Somebody else submitted a payment that the buyer never gave us.
  if (isUnsigned(stored)) return 'drafted'
  // If its window has ended, the next poll moves the order on to `expired`.
  if (!isOpen || !isReopened) return 'stored'
  if (state === 'canceled') return 'canceling'
  return isCancelDue ? 'stored' : 'capturing'
}

/**
 * True for a sale whose newest attempt was never accepted, so that we have no
 * signature to capture.
 */
function isUnsigned({
  order,
  attempt,
  attempts = [attempt],
}: Settled): boolean {
  const newest = attempts.find(({ number }) => number === order.attempt)
  const { hasBuyer } = traitsOf(order)
  return hasBuyer && newest !== undefined && newest.signatureHash === undefined
}

/**
 * Returns what counts as requested again: our capture, or the buyer's
 * cancellation, even if the order is voided.
 */
function requestWithout(
  { state }: OrderRecord,
  to: OrderRecord['state'],
  { isOpen, isReopened, isCancelDue }: Without,
): OrderRecord['requested'] {
  if (to === 'capturing') return 'capture'
  const isVoided = to === 'voided' && state === 'canceled'
  return isCancelDue || (isVoided && isOpen && isReopened)
    ? 'cancel'
    : undefined
}
