import type { OrderRecord, ProofRecord } from '../../store/types.js'
import { type Changes, withEvent } from './changes.js'

/**
 * Reports a loss if the order was fulfilled and a reorg undid the capture of
 * this attempt. Call it once the attempt can no longer pay the order.
 * @param facts.number number of the attempt. @default the newest one
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
