import type { Address, Hash } from 'viem'
import type {
  AttemptRecord,
  OrderRecord,
  ProofRecord,
} from '../../store/types.js'
import { type Changes, moveOrder, noChanges, withEvent } from './changes.js'
import { isAnsweredEarly } from './earlyAnswer.js'
import type { OrderEventData } from './orderEvents.js'
import { reportLoss } from './reportLoss.js'
import { traitsOf } from './roles.js'
import type { StoredOrder } from './storedOrder.js'

/** What one block shows about a payment attempt of an order. */
export type Evidence =
  | { kind: 'capture' | 'cancel'; proof: Omit<ProofRecord, 'version'> }
  /**
   * The payment nonce was used, but by another payment than the order's, and
   * not by a cancellation.
   */
  | {
      kind: 'consumed'
      transactionHash: Hash
      blockNumber: bigint
      blockHash?: Hash | undefined
    }
  /**
   * A final block shows that the payer ended the payment, but no log names the
   * transaction that did it.
   */
  | { kind: 'withdrawn'; blockNumber: bigint }
  /**
   * One block shows that the nonce is unused and that the block's time is at or
   * past `validBefore`.
   */
  | { kind: 'expired'; blockNumber: bigint; blockTime: bigint; final: boolean }

/**
 * Seconds of chain time until we check again an order that has ended in a block
 * that is not final yet.
 */
export const lookAgain = 15n

/**
 * Moves an order to the state that the chain shows, with the events that report
 * it. Idempotent: the same evidence again has no effect.
 * @param at Unix milliseconds, for the events.
 */
export function settleOrder(
  stored: Omit<StoredOrder, 'attempts'>,
  evidence: Evidence,
  at: bigint,
): Changes {
  switch (evidence.kind) {
    case 'capture':
      return settleCapture(stored, evidence.proof, at)
    case 'cancel':
      return settleCancel(stored, evidence.proof, at)
    case 'consumed':
      return settleConsumed(stored, evidence, at)
    case 'withdrawn':
      return settleWithdrawn(stored, evidence, at)
    case 'expired':
      return settleExpired(stored, evidence, at)
  }
}

/**
 * Returns the record of a payment to store: a new one, or a known one that is
 * now in another block. Returns `undefined` if the store has the same record
 * already.
 */
function fileProof(
  { proofs }: Omit<StoredOrder, 'attempts'>,
  proof: Omit<ProofRecord, 'version'>,
): Pick<Changes, 'proofs' | 'newProofs'> | undefined {
  const known = proofs.find(
    ({ transactionHash, logIndex }) =>
      transactionHash === proof.transactionHash && logIndex === proof.logIndex,
  )
  if (!known) return { proofs: [], newProofs: [proof] }
  if (!known.removed && known.blockHash === proof.blockHash) return undefined
  return { proofs: [{ ...known, ...proof }], newProofs: [] }
}

const settledBy = ({
  transactionHash,
  blockNumber,
}: Pick<ProofRecord, 'transactionHash' | 'blockNumber'>) =>
  ({
    settledHash: transactionHash,
    settledBlock: blockNumber,
    finality: 'included',
    sendDue: undefined,
    lookDue: undefined,
    requested: undefined,
    reason: undefined,
    needsReview: false,
  }) as const

function settleCapture(
  stored: Omit<StoredOrder, 'attempts'>,
  proof: Omit<ProofRecord, 'version'>,
  at: bigint,
): Changes {
  const { order, attempt, proofs } = stored
  const filed = fileProof(stored, proof)
  if (!filed) return noChanges()
  const { transactionHash, logIndex } = proof
  const ofAttempt = proofs.filter(
    (known) => !known.removed && known.attempt === attempt.number,
  )
  // A nonce can be used only once, so other records of the same nonce are from
  // blocks that a reorg replaced.
  const gone = ofAttempt.filter(
    (known) =>
      known.transactionHash !== transactionHash || known.logIndex !== logIndex,
  )
  const isSettled = proofs.some(
    (known) =>
      !known.removed &&
      known.attempt !== attempt.number &&
      known.kind === 'capture',
  )
  const closed = { ...attempt, payer: proof.payer, spendable: false }
  const changes = {
    ...noChanges(),
    newProofs: filed.newProofs,
    proofs: [
      ...filed.proofs,
      ...gone.map((row) => ({ ...row, removed: true })),
    ],
    attempts: [closed],
  }
  // If the same payment is now in another block, write the event `captured`
  // again, but not `overpaid` or `refundDue`.
  const before = ofAttempt.find(({ kind }) => kind === 'capture')
  const data = dataOf(proof)
  const refund = { ...dataOf(proof), ...refundOf(attempt, proof) }
  const settles = before && before.transactionHash === order.settledHash
  if (order.state === 'captured' && isSettled && !settles) {
    if (before) return changes
    const reported = withEvent(
      order,
      { type: 'overpaid', at, data: refund },
      { overpaid: true },
    )
    return { ...changes, orders: [reported.order], events: [reported.event] }
  }
  // A payment of an order that had ended unpaid is unexpected. If the goods
  // were delivered, it is not: then the buyer owed the payment.
  const isGivenUp =
    !traitsOf(order).isPaidByUs &&
    order.fulfilled === undefined &&
    !isAnsweredEarly(order) &&
    (['voided', 'expired', 'canceled'].includes(order.state) ||
      (order.state === 'consumed' && order.requested === 'void'))
  const unexpected = order.unexpected || isGivenUp
  const moved = moveOrder(
    order,
    'capture',
    'captured',
    { type: 'captured', at, data },
    {
      ...settledBy(proof),
      payer: proof.payer,
      ...(order.total === 'atMost' ? { captureValue: proof.value } : {}),
      unexpected,
      requested: overtakenRequest(order),
    },
  )
  if (!unexpected || (before && order.unexpected))
    return { ...changes, orders: [moved.order], events: [moved.event] }
  const due = withEvent(moved.order, { type: 'refundDue', at, data: refund })
  return { ...changes, orders: [due.order], events: [moved.event, due.event] }
}

export function refundDataOf(
  attempt: AttemptRecord,
  payer: Address,
  proof: Omit<ProofRecord, 'version'> | undefined,
): OrderEventData['refundDue'] {
  return {
    ...(proof ? dataOf(proof) : {}),
    ...refundOf(attempt, { payer }),
  }
}

function dataOf(
  proof: Omit<ProofRecord, 'version'>,
): OrderEventData['captured'] {
  const { transactionHash, logIndex, blockNumber, value, submitter } = proof
  return {
    transactionHash,
    logIndex,
    blockNumber: String(blockNumber),
    value: String(value),
    submitter,
  }
}

/**
 * Returns the id of a due refund. It names the attempt, which stays the same
 * when a reorg moves the capture to another block.
 */
function refundOf(
  { orderId, number }: AttemptRecord,
  { payer }: Pick<ProofRecord, 'payer'>,
): Pick<OrderEventData['refundDue'], 'refundId' | 'refundTo'> {
  return { refundId: `${orderId}/${number}`, refundTo: payer }
}

/**
 * Keeps a void or a cancellation that was requested before the capture
 * happened. If a reorg undoes the capture, the request counts again.
 */
const overtakenRequest = ({
  requested,
}: OrderRecord): OrderRecord['requested'] =>
  requested === 'capture' ? undefined : requested

/**
 * Returns `void` for an order that was voided, or was to be canceled and is not
 * `canceling` yet. If a reorg undoes its settlement, it is voided again.
 */
const keptRequest = ({
  state,
  requested,
}: OrderRecord): OrderRecord['requested'] =>
  state === 'voided' ||
  requested === 'void' ||
  (requested === 'cancel' && state !== 'canceling')
    ? 'void'
    : undefined

function settleCancel(
  stored: Omit<StoredOrder, 'attempts'>,
  proof: Omit<ProofRecord, 'version'>,
  at: bigint,
): Changes {
  const { order, attempt, proofs } = stored
  const filed = fileProof(stored, proof)
  // The order itself does not change if the canceled attempt is an older one,
  // or if another payment captured the order.
  const isOver = attempt.number !== order.attempt || order.state === 'captured'
  if (!filed && (isOver || order.state === 'canceled')) return noChanges()
  const changes = {
    ...noChanges(),
    ...filed,
    attempts: [{ ...attempt, spendable: false }],
  }
  if (isOver) return changes
  const { transactionHash, blockNumber } = proof
  const moved = moveOrder(
    order,
    'cancel',
    'canceled',
    {
      type: 'canceled',
      at,
      data: { transactionHash, blockNumber: String(blockNumber) },
    },
    { ...settledBy(proof), requested: keptRequest(order) },
  )
  const lost = reportLoss(moved.order, { proofs, at })
  return {
    ...changes,
    orders: lost.orders,
    events: [moved.event, ...lost.events],
  }
}

function settleConsumed(
  { order, attempt, proofs }: Omit<StoredOrder, 'attempts'>,
  evidence: Extract<Evidence, { kind: 'consumed' }>,
  at: bigint,
): Changes {
  const { transactionHash, blockNumber, blockHash } = evidence
  const attempts = attempt.spendable ? [{ ...attempt, spendable: false }] : []
  const isOver =
    attempt.number !== order.attempt ||
    order.state === 'captured' ||
    order.state === 'consumed'
  if (isOver) return { ...noChanges(), attempts }
  const moved = moveOrder(
    order,
    'consumed',
    'consumed',
    {
      type: 'consumed',
      at,
      data: {
        transactionHash,
        blockNumber: String(blockNumber),
        ...(blockHash ? { blockHash } : {}),
      },
    },
    {
      ...settledBy(evidence),
      requested: keptRequest(order),
    },
  )
  const lost = reportLoss(moved.order, { proofs, at })
  return {
    ...noChanges(),
    attempts,
    orders: lost.orders,
    events: [moved.event, ...lost.events],
  }
}

function settleWithdrawn(
  { order, attempt, proofs }: Omit<StoredOrder, 'attempts'>,
  { blockNumber }: Extract<Evidence, { kind: 'withdrawn' }>,
  at: bigint,
): Changes {
  const closed = closeAttempt(attempt, true)
  const isOver =
    attempt.number !== order.attempt ||
    ['captured', 'canceled', 'consumed'].includes(order.state)
  if (isOver) return closed
  const moved = moveOrder(
    order,
    'withdrawn',
    'canceled',
    { type: 'canceled', at, data: { blockNumber: String(blockNumber) } },
    {
      settledHash: undefined,
      settledBlock: blockNumber,
      finality: 'finalized',
      sendDue: undefined,
      lookDue: undefined,
      requested: undefined,
      reason: undefined,
      needsReview: false,
    },
  )
  const lost = reportLoss(moved.order, { proofs, at })
  return {
    ...closed,
    orders: lost.orders,
    events: [moved.event, ...lost.events],
  }
}

function settleExpired(
  { order, attempt, proofs }: Omit<StoredOrder, 'attempts'>,
  evidence: Extract<Evidence, { kind: 'expired' }>,
  at: bigint,
): Changes {
  const { final, blockNumber, blockTime } = evidence
  // The end of a window decides nothing about a payment that the chain has
  // decided.
  const isOver =
    attempt.number !== order.attempt ||
    ['captured', 'canceled', 'consumed'].includes(order.state)
  if (isOver) return closeAttempt(attempt, final)
  const fields: Partial<OrderRecord> = {
    sendDue: undefined,
    requested: undefined,
    needsReview: false,
    lookDue: final ? undefined : blockTime + lookAgain,
    ...(final ? { finality: 'finalized' as const } : {}),
  }
  const stays = order.state === 'voided' || order.state === 'expired'
  if (stays) {
    const row = { ...order, ...fields }
    // A voided order ends here. If a reorganization undid its capture after the
    // order was fulfilled, report the loss now, because no later step will.
    const isEnd = final && order.state === 'voided' && !order.unexpected
    const reported = isEnd ? reportLoss(row, { proofs, at }) : { orders: [row] }
    return { ...closeAttempt(attempt, final), ...reported }
  }
  const moved = moveOrder(
    order,
    'expired',
    'expired',
    {
      type: 'expired',
      at,
      data: { blockNumber: String(blockNumber), blockTime: String(blockTime) },
    },
    fields,
  )
  const lost = reportLoss(moved.order, { proofs, at })
  return {
    ...closeAttempt(attempt, final),
    orders: lost.orders,
    events: [moved.event, ...lost.events],
  }
}

/**
 * Marks an attempt as no longer payable. If a final block shows that, erases
 * its credentials.
 */
function closeAttempt(attempt: AttemptRecord, final: boolean): Changes {
  const closed = {
    ...attempt,
    spendable: false,
    ...(final ? { signature: undefined, cancellation: undefined } : {}),
  }
  return { ...noChanges(), attempts: [closed] }
}
