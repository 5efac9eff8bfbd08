import { dataElement, type ShopData } from './pageData.js'

/** The data that the server put into the document. */
export function readPageData<data extends ShopData>(): data {
  const element = document.querySelector<HTMLMetaElement>(
    `meta[name="${dataElement}"]`,
  )
  return JSON.parse(element?.content ?? '')
}

/** What the address names, and the secret token of its buyer. */
export type PageLink = { id: string; buyerToken: string }

/**
 * Reads the id in the address, and its token behind the `#`. Returns
 * `undefined` if the id is malformed.
 */
export function readLink(): PageLink | undefined {
  const segment = location.pathname.split('/').at(-1) ?? ''
  try {
    return {
      id: decodeURIComponent(segment),
      buyerToken: location.hash.slice(1),
    }
  } catch {
    return undefined
  }
}
