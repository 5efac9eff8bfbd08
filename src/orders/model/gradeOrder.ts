import type { Finality } from '../../core/types.js'
import type { OrderRecord, ProofRecord } from '../../store/types.js'
import { type Changes, noChanges, tellOrder } from './changes.js'

const grades: readonly Finality[] = [
  'preconfirmed',
  'included',
  'safe',
  'finalized',
]

/** Whether the chain is as sure as is asked. */
function isAtLeast(grade: Finality | undefined, asked: Finality): boolean {
  return grade !== undefined && grades.indexOf(grade) >= grades.indexOf(asked)
}

/**
 * Raises the grade of a settled order, and announces its fulfilment, once in
 * its life, when the chain is sure enough. Pure.
 */
export function gradeOrder(
  order: OrderRecord,
  proof: ProofRecord | undefined,
  options: { grade: Finality; fulfilAt: Finality; at: bigint },
): Changes {
  const { grade, fulfilAt, at } = options
  const events: Changes['events'] = []
  let changed = order
  if (order.grade !== grade) {
    const told = tellOrder(
      changed,
      { type: 'graded', at, data: { grade } },
      { grade },
    )
    changed = told.order
    events.push(told.event)
  }
  const isDue =
    order.state === 'captured' &&
    proof !== undefined &&
    order.fulfilled === undefined &&
    !order.unexpected &&
    isAtLeast(grade, fulfilAt)
  if (isDue) {
    const fulfilmentId = `${order.id}/${proof.transactionHash}`
    const told = tellOrder(
      changed,
      { type: 'fulfil', at, data: { fulfilmentId, grade } },
      { fulfilled: fulfilmentId },
    )
    changed = told.order
    events.push(told.event)
  }
  return changed === order
    ? noChanges()
    : { ...noChanges(), orders: [changed], events }
}
