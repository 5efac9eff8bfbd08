import type { SettledPolicy } from '../records/types.js'
import type { OrderRecord, TransactionRecord } from '../store/types.js'
import { type Changes, moveOrder, noChanges } from './changes.js'
import { endsOf } from './endsOf.js'
import type { OrderFile } from './settleOrder.js'

/**
 * What the record has to say when a reorganization took back what settled an
 * order: the same bytes are sent again while the window is open and they are
 * ours to send, else the order is what it would be without the proof. Pure.
 *
 * @param facts.blockTime time of the newest block, Unix seconds.
 */
export function unsettleOrder(
  file: OrderFile,
  facts: {
    transactions: readonly TransactionRecord[]
    blockTime: bigint
    at: bigint
    policy: Pick<SettledPolicy, 'capture' | 'deadlineNear'>
  },
): Changes {
  const { order, attempt, proofs } = file
  const { at, blockTime, policy } = facts
  const gone = proofs.filter(
    ({ transactionHash, removed }) =>
      !removed && transactionHash === order.settledHash,
  )
  const ends = endsOf(attempt)
  const isOpen =
    blockTime < ends[order.state === 'canceled' ? 'cancel' : 'capture']
  const ours = facts.transactions.filter(
    ({ attempt: number, kind }) =>
      number === attempt.number &&
      kind === (order.state === 'captured' ? 'capture' : 'cancel'),
  )
  const without = { isOpen, isOurs: ours.length > 0 }
  const to = stateWithout(order, without)
  // As when it was accepted; what the buyer has canceled is asked for by nobody.
  const isDue =
    to === 'stored' &&
    isOpen &&
    order.state !== 'canceled' &&
    order.attempt === attempt.number
  const near = ends.capture - policy.deadlineNear
  const lookDue = isDue ? near : ends.cancel
  const moved = moveOrder(
    order,
    to,
    {
      type: 'reorged',
      at,
      data: { transactionHash: order.settledHash, from: order.state },
    },
    {
      grade: undefined,
      settledHash: undefined,
      settledBlock: undefined,
      lookDue: isOpen ? lookDue : blockTime,
      sendDue: isDue && policy.capture === 'onAccept' ? 0n : undefined,
      wish: wishWithout(order, to, without),
    },
  )
  return {
    ...noChanges(),
    orders: [moved.order],
    attempts: [{ ...attempt, open: blockTime < ends.cancel }],
    // What was given up is sent by nobody, whatever was sent for it before.
    transactions: isInFlight(moved.order) ? reopenLast(ours) : [],
    proofs: gone.map((proof) => ({ ...proof, removed: true })),
    events: [moved.event],
  }
}

/** Those at the nonce used last: the ones before were over when it was used. */
function reopenLast(ours: readonly TransactionRecord[]): TransactionRecord[] {
  const last = Math.max(...ours.map(({ nonce }) => nonce))
  return ours
    .filter(({ nonce }) => nonce === last)
    .map((sent) => ({ ...sent, open: true }))
}

function isInFlight({ state, wish }: OrderRecord): boolean {
  return state === 'capturing' || state === 'canceling' || wish === 'cancel'
}

type Without = { isOpen: boolean; isOurs: boolean }

/** Where an order is when nothing has settled it. */
function stateWithout(
  { state, unexpected, wish }: OrderRecord,
  { isOpen, isOurs }: Without,
): OrderRecord['state'] {
  if (unexpected || wish === 'void') return 'voided'
  // The chain is asked at once whether the nonce is unused past the deadline.
  if (!isOpen) return 'stored'
  if (!isOurs) return 'stored'
  return state === 'captured' ? 'capturing' : 'canceling'
}

/** The buyer's cancellation is sent again whatever the merchant gave up. */
function wishWithout(
  { state }: OrderRecord,
  to: OrderRecord['state'],
  { isOpen, isOurs }: Without,
): OrderRecord['wish'] {
  if (to === 'capturing') return 'capture'
  const isCanceled = to === 'voided' && state === 'canceled'
  return isCanceled && isOpen && isOurs ? 'cancel' : undefined
}
