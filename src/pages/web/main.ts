import { placeInPage } from './dom.js'
import type { OrderLink } from './openBuyer.js'
import { readLink, readPageData } from './readPageData.js'
import { showPayment } from './showPayment.js'

showPayment({
  data: readPageData(),
  link: linkOfPage(),
  place: placeInPage(),
  print: () => window.print(),
  signal: new AbortController().signal,
})

// Another link to the same page changes nothing but what is behind the `#`.
addEventListener('hashchange', () => location.reload())

function linkOfPage(): OrderLink | undefined {
  try {
    return readLink()
  } catch {
    // The order's id in the address is malformed.
    return undefined
  }
}
