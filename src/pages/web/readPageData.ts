import type { OrderLink } from './openBuyer.js'
import { dataElement, type ShopData } from './pageData.js'

/** The data that the server put into the document. */
export function readPageData<data extends ShopData>(): data {
  const element = document.querySelector<HTMLMetaElement>(
    `meta[name="${dataElement}"]`,
  )
  return JSON.parse(element?.content ?? '')
}

/** The order that the address names, and its token behind the `#`. */
export function readLink(): OrderLink {
  const segment = location.pathname.split('/').at(-1) ?? ''
  return {
    orderId: decodeURIComponent(segment),
    buyerToken: location.hash.slice(1),
  }
}
