import type { Order } from '../../orders/index.js'
import type { Subscription } from '../../subscriptions/schedule/showSubscription.js'
import { type BuyerOrder, buyerOrder } from './buyerOrder.js'

/** All that a buyer sees of a subscription. */
export type BuyerSubscription = Omit<Subscription, 'metadata' | 'createdAt'> & {
  /** The newest charges, the newest first. */
  charges: readonly BuyerOrder[]
}

/** Returns the part of a subscription that its buyer may see. */
export function buyerSubscription(
  { metadata: _, createdAt: __, ...shown }: Subscription,
  charges: readonly Order[],
): BuyerSubscription {
  return { ...shown, charges: charges.map(buyerOrder) }
}
