import type { BuyerOrder } from '../api/openBuyer.js'
import type { PayPhase } from './authorizePayment.js'

/** Where an order is on its way, in one word. */
export type OrderPoint =
  | Exclude<BuyerOrder['state'], 'captured'>
  | 'signed'
  | NonNullable<BuyerOrder['transaction']>['finality']

export function pointOf(
  { state, transaction }: BuyerOrder,
  phase?: PayPhase | undefined,
): OrderPoint {
  if (state === 'drafted') return phase === 'sending' ? 'signed' : 'drafted'
  if (state === 'captured') return transaction?.finality ?? 'included'
  return state === 'capturing' && transaction ? 'preconfirmed' : state
}
