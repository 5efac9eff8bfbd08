import { isTestOrderId } from '../../core/testOrders.js'
import type { Finality } from '../../core/types.js'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import { type Changes, noChanges, withEvent } from './changes.js'
import { inState } from './moves.js'
import { isRefund } from './refundRow.js'
import { traitsOf } from './roles.js'

const finalities: readonly Finality[] = [
  'preconfirmed',
  'included',
  'safe',
  'finalized',
]

function isAtLeast(finality: Finality | undefined, asked: Finality): boolean {
  return (
    finality !== undefined &&
    finalities.indexOf(finality) >= finalities.indexOf(asked)
  )
}

/**
 * Updates the finality of a settled order. When a capture reaches `fulfilAt`,
 * adds the event `fulfil`, once per order. A test order gets no such event.
 */
export function raiseFinality(
  order: OrderRecord,
  proof: ProofRecord | undefined,
  options: { finality: Finality; fulfilAt: Finality; at: bigint },
): Changes {
  const { finality, fulfilAt, at } = options
  const { isPaidByUs } = traitsOf(order)
  const events: Changes['events'] = []
  let changed = order
  if (order.finality !== finality) {
    const reported = withEvent(
      changed,
      { type: 'finalityRaised', at, data: { finality } },
      { finality },
    )
    changed = reported.order
    events.push(reported.event)
  }
  const isDue =
    order.state === 'captured' &&
    !isPaidByUs &&
    proof !== undefined &&
    order.fulfilled === undefined &&
    !order.unexpected &&
    !isTestOrderId(order.id) &&
    isAtLeast(finality, fulfilAt)
  if (isDue) {
    const fulfilmentId = `${order.id}/${proof.transactionHash}`
    const reported = withEvent(
      changed,
      { type: 'fulfil', at, data: { fulfilmentId, finality } },
      { fulfilled: fulfilmentId },
    )
    changed = reported.order
    events.push(reported.event)
  }
  // A transfer unknown to the store used the nonce of this refund, so the
  // refund needs a new one. The watcher stores that transfer as a refund of its
  // own.
  const isReplaced =
    isRefund(order) && order.state === 'consumed' && finality === 'finalized'
  if (isReplaced)
    changed = {
      ...inState(changed, 'replaced', 'drafted'),
      reason: 'consumed',
      finality: undefined,
      settledHash: undefined,
      settledBlock: undefined,
    }
  return changed === order
    ? noChanges()
    : { ...noChanges(), orders: [changed], events }
}
