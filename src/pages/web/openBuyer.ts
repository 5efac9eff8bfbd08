import type { BuyerClient } from '../../client/BuyerClient.js'
import { createBuyerClient } from '../../client/createBuyerClient.js'
import type { PageData } from './pageData.js'
import { readLink } from './readPageData.js'

/** The routes of the order, and the time of the server. */
export type OpenedBuyer = {
  buyer: BuyerClient
  /** Unix seconds. Buyers' clocks are often wrong. */
  now: () => number
}

export function openBuyer(
  { payments }: PageData,
  onRetry: () => void,
): OpenedBuyer {
  let ahead = 0
  const buyer = createBuyerClient({
    url: new URL(payments, location.href).href,
    ...readLink(),
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
