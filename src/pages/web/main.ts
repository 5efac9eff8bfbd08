import { placeInPage } from './dom.js'
import { readLink, readPageData } from './readPageData.js'
import { showPayment } from './showPayment.js'

const link = readLink()
showPayment({
  data: readPageData(),
  link: link && { orderId: link.id, buyerToken: link.buyerToken },
  place: placeInPage(),
  print: () => window.print(),
  signal: new AbortController().signal,
})

// Another link to the same page changes nothing but what is behind the `#`.
addEventListener('hashchange', () => location.reload())
