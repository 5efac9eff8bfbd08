import type { OrderLink } from './openBuyer.js'
import { readLink, readPageData } from './readPageData.js'
import { showPayment } from './showPayment.js'

const main = document.querySelector('main') as HTMLElement
const status = document.querySelector('#status') as HTMLElement

showPayment({
  data: readPageData(),
  link: linkOfPage(),
  place: { main, status },
  print: () => window.print(),
  signal: new AbortController().signal,
})

// Another link to the same page changes nothing but what is behind the `#`.
addEventListener('hashchange', () => location.reload())

function linkOfPage(): OrderLink | undefined {
  try {
    return readLink()
  } catch {
    // The address is no text.
    return undefined
  }
}
