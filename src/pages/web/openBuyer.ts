import type { BuyerClient } from '../../client/BuyerClient.js'
import { createBuyerClient } from '../../client/createBuyerClient.js'

/** An order, and the secret token of its buyer. */
export type OrderLink = { orderId: string; buyerToken: string }

/** The routes of the order, and the time of the server. */
export type OpenedBuyer = {
  buyer: BuyerClient
  /** Unix seconds. Buyers' clocks are often wrong. */
  now: () => number
}

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
  let ahead = 0
  const buyer = createBuyerClient({
    url: addressOf(payments),
    ...link,
    onRetry,
    fetch: async (request) => {
      const response = await fetch(request)
      const date = Date.parse(response.headers.get('date') ?? '')
      // The header has whole seconds.
      if (Math.abs(date - Date.now() - ahead) > 2_000) ahead = date - Date.now()
      return response
    },
  })
  return { buyer, now: () => Math.floor((Date.now() + ahead) / 1_000) }
}

/** Leaves a malformed address as it is: the client's error is about that. */
function addressOf(payments: string): string {
  try {
    return new URL(payments, location.href).href
  } catch {
    return payments
  }
}
