import type { BuyerState } from './BuyerClient.js'

/** True when all that the chain shows of the order is final. */
export function isSettled({
  state,
  transaction,
  refunds,
}: BuyerState): boolean {
  return (
    (state === 'captured' || state === 'canceled') &&
    transaction?.finality === 'finalized' &&
    refunds.every(
      (refund) =>
        refund.state === 'failed' ||
        refund.state === 'canceled' ||
        refund.transaction?.finality === 'finalized',
    )
  )
}
