import {
  type BuyerClient,
  type BuyerState,
  createBuyerClient,
} from 'countersign/client'

/** An order as its buyer is shown it. */
export type BuyerOrder = BuyerState

/** A refund as the buyer is shown it. */
export type BuyerRefund = BuyerOrder['refunds'][number]

/** An order, and what proves to be its buyer. */
export type OrderAccess = { orderId: string; token: string }

/** The buyer's routes of an order. The page decides how often it tries. */
export function openBuyer(
  { orderId, token }: OrderAccess,
  onRetry?: () => void,
): BuyerClient {
  return createBuyerClient({
    url: `${location.origin}/payments`,
    orderId,
    buyerToken: token,
    retries: 0,
    onRetry,
  })
}
