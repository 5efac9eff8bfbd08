import type { SettledPolicy } from '../records/types.js'
import type { OrderRecord, TransactionRecord } from '../store/types.js'
import { type Changes, moveOrder, noChanges } from './changes.js'
import { endsOf } from './endsOf.js'
import { reopenLast } from './reopenLast.js'
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
    policy: Pick<
      SettledPolicy,
      'capture' | 'deadlineNear' | 'relayCancellations'
    >
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
  const isSent =
    order.state === 'captured' &&
    order.attempt === attempt.number &&
    blockTime < ends.cancel &&
    isToBeSent(file, policy)
  const without = { isOpen, isOurs: ours.length > 0, isSent }
  const to = stateWithout(order, without)
  // As when it was accepted; what the buyer has canceled is asked for by nobody.
  const isDue =
    to === 'stored' &&
    isOpen &&
    order.state !== 'canceled' &&
    order.attempt === attempt.number
  const near = ends.capture - policy.deadlineNear
  const lookDue = isDue ? near : ends.cancel
  // The goods are out: it is captured again at once, whatever the policy.
  const isOwed = isDue && order.fulfilled !== undefined
  const wish = isOwed ? 'capture' : wishWithout(order, to, without)
  const isAsked =
    isSent || isOwed || (isDue && policy.capture === 'onAccept')
  const moved = moveOrder(
    order,
    to,
    {
      type: 'reorged',
      at,
      data: { transactionHash: order.settledHash, from: order.state, to },
    },
    {
      grade: undefined,
      settledHash: undefined,
      settledBlock: undefined,
      lookDue: isOpen ? lookDue : blockTime,
      sendDue: isAsked ? 0n : undefined,
      wish,
    },
  )
  // What was given up is sent by nobody, whatever was sent for it before.
  const isAgain = isInFlight(moved.order) && !isSent
  return {
    ...noChanges(),
    orders: [moved.order],
    attempts: [{ ...attempt, open: blockTime < ends.cancel }],
    transactions: isAgain ? reopenLast(ours) : [],
    proofs: gone.map((proof) => ({ ...proof, removed: true })),
    events: [moved.event],
  }
}

function isInFlight({ state, wish }: OrderRecord): boolean {
  return state === 'capturing' || state === 'canceling' || wish === 'cancel'
}

/** The buyer's cancellation a capture came before, where it is to be sent. */
function isToBeSent(
  { order: { wish, fulfilled }, attempt }: OrderFile,
  { relayCancellations }: Pick<SettledPolicy, 'relayCancellations'>,
): boolean {
  const isRelayed = wish === 'void' && relayCancellations === 'always'
  const isWanted = wish === 'cancel' || isRelayed
  return (
    isWanted && attempt.cancellation !== undefined && fulfilled === undefined
  )
}

type Without = { isOpen: boolean; isOurs: boolean; isSent: boolean }

/** Where an order is when nothing has settled it. */
function stateWithout(
  { state, unexpected, wish, fulfilled }: OrderRecord,
  { isOpen, isOurs, isSent }: Without,
): OrderRecord['state'] {
  // What was fulfilled is captured again, whoever had given it up before.
  const isOwed = state === 'captured' && fulfilled !== undefined
  if (unexpected || (wish === 'void' && !isOwed)) return 'voided'
  // The chain is asked at once whether the nonce is unused past the deadline.
  if (!isOpen || !isOurs) return 'stored'
  if (state === 'canceled') return 'canceling'
  return isSent ? 'stored' : 'capturing'
}

/** The buyer's cancellation is sent again whatever the merchant gave up. */
function wishWithout(
  { state }: OrderRecord,
  to: OrderRecord['state'],
  { isOpen, isOurs, isSent }: Without,
): OrderRecord['wish'] {
  if (to === 'capturing') return 'capture'
  const isVoided = to === 'voided' && state === 'canceled'
  return isSent || (isVoided && isOpen && isOurs) ? 'cancel' : undefined
}
