import type { BuyerClient } from '../../client/BuyerClient.js'
import { createBuyerClient } from '../../client/createBuyerClient.js'
import { type ServerClock, serverClock } from './serverClock.js'

/** An order, and the secret token of its buyer. */
export type OrderLink = { orderId: string; buyerToken: string }

/** The routes of the order, and the time of the server. */
export type OpenedBuyer = Pick<ServerClock, 'now'> & { buyer: BuyerClient }

type OpenBuyerParameters = {
  link: OrderLink
  /** Address of the buyers' routes, relative to the page or absolute. */
  payments: string
  onRetry: () => void
}

/** @throws {@link InvalidFieldError} when link or address is malformed. */
export function openBuyer({
  link,
  payments,
  onRetry,
}: OpenBuyerParameters): OpenedBuyer {
  const { fetch, now } = serverClock()
  const url = addressOf(payments)
  return { buyer: createBuyerClient({ url, ...link, onRetry, fetch }), now }
}

/** Leaves a malformed address as it is: the client's error is about that. */
function addressOf(payments: string): string {
  try {
    return new URL(payments, location.href).href
  } catch {
    return payments
  }
}
