import type { OrderRecord, ProofRecord } from '../../store/types.js'
import { type Changes, withEvent } from './changes.js'

/**
 * Raises the loss of an order that was fulfilled for a payment the chain took
 * back, now that this attempt pays it no more. Pure.
 *
 * @param facts.number the attempt in question. @default the newest one
 */
export function reportLoss(
  order: OrderRecord,
  {
    proofs,
    at,
    number = order.attempt,
  }: {
    proofs: readonly ProofRecord[]
    at: bigint
    number?: number | undefined
  },
): Pick<Changes, 'orders' | 'events'> {
  const { fulfilled } = order
  const isTakenBack = proofs.some(
    ({ kind, removed, attempt }) =>
      kind === 'capture' && removed && attempt === number,
  )
  if (fulfilled === undefined || !isTakenBack)
    return { orders: [order], events: [] }
  const data = { fulfilled }
  const reported = withEvent(order, { type: 'lossAfterFulfilment', at, data })
  return { orders: [reported.order], events: [reported.event] }
}
